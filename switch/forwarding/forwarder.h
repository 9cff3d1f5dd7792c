#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "switch/config/config.h"
#include "switch/forwarding/mac_table.h"
#include "switch/forwarding/parse_headers.h"
#include "switch/forwarding/route_table.h"

namespace outrider::sw {

/// A station that one lcore has learned. It is sent to the others, as each has its own table.
struct StationNews {
  MacKey key{};
  std::uint64_t port = 0;
};

/// The state that changes as packets are forwarded. Each lcore that forwards has its own.
struct ForwarderLane {
  std::unique_ptr<MacTable> stations{};  ///< learned stations; only if the switch learns
  RouteTable::Spreading spreading;
  /// News that other lanes have not been sent yet. It never grows beyond its capacity, which
  /// is 0 without other lanes. If a station finds no room here, other lanes flood its packets
  /// until it is heard again.
  std::vector<StationNews> news{};

  /// Learns a station from another lane's news.
  void learn(const StationNews& from_other, Time now) noexcept {
    stations->learn(from_other.key, static_cast<std::uint16_t>(from_other.port), now);
  }
};

/// Decides where a packet goes. Const after start-up.
///
/// 1. A switch that learns notes the port of the source.
/// 2. A packet for a known station, static or learned, is bridged to it unchanged.
/// 3. An IP packet is routed by the longest prefix if its destination MAC address is the
///    switch's own, or if the switch does not learn. An ARP packet is routed likewise by its
///    target, unless the switch answers it.
/// 4. A switch that learns floods the rest: broadcast, multicast, unknown stations.
///
/// A switch without learning and static stations skips steps 1, 2 and 4 for IPv4: see route().
class Forwarder {
 public:
  enum class Action : std::uint8_t {
    kBridge,  ///< send to `port`, unchanged
    kRoute,   ///< send to `hop`; the TTL and, if the hop has one, the MAC addresses change
    kFlood,   ///< send to all ports except the ingress port
    kAnswer,  ///< answer an ARP request for the switch through the ingress port
    kDrop,
  };
  struct Verdict {
    Action action = Action::kDrop;
    DropReason reason{};           ///< set with kDrop
    std::uint16_t port = 0;        ///< set with kBridge and kRoute
    const NextHop* hop = nullptr;  ///< set with kRoute
  };

  /// @param config must be valid. @param index  see RouteTable
  /// @throws EnvironmentError if there is no memory for the tables
  Forwarder(const SwitchConfig& config, std::uint32_t index);

  /// Returns what to do with a packet.
  /// @param frame starts at the Ethernet header; parse_headers() has read it as `summary`
  /// @param now does not decrease
  [[nodiscard]] Verdict decide(const FrameSummary& summary, const FlowKey& flow,
                               const std::uint8_t* frame, std::uint16_t ingress, Time now,
                               ForwarderLane& lane) const noexcept {
    if (looks_at_macs_ || summary.kind != FrameKind::kIpv4)
      return decide_uncommon({summary, flow, frame, ingress, now}, lane);
    return route(flow, now, lane);
  }
  /// Does the same for an IPv4 packet. @return a verdict with kRoute or kDrop
  /// @pre !looks_at_macs()
  [[nodiscard, gnu::always_inline]] Verdict route(const FlowKey& flow, const Time& now,
                                                  ForwarderLane& lane) const noexcept {
    return route_to(routes_.find(flow.destination_address), flow, now, lane);
  }

  /// Makes the state of one lcore. @param seed  see RouteTable::make_spreading()
  /// @param shares_news  whether it sends news to other lanes
  /// @throws std::bad_alloc
  [[nodiscard]] ForwarderLane make_lane(std::uint64_t seed, bool shares_news) const;

  /// See RouteTable.
  [[nodiscard]] RouteTable::Spreading make_spreading(std::uint64_t seed) const {
    return routes_.make_spreading(seed);
  }

  /// Prefetches the table entries that decide() will read. @pre the frame contains both MAC
  /// addresses
  void prefetch(const std::uint8_t* frame, const ForwarderLane& lane) const noexcept {
    if (!looks_at_macs_) return;
    if (statics_) statics_->prefetch(MacKey::of(MacKey::kAnyVlan, mac_at(frame)));
    if (!learning_) return;
    lane.stations->prefetch(MacKey::of(0, mac_at(frame)));
    lane.stations->prefetch(MacKey::of(0, mac_at(frame + sizeof(MacAddress))));
  }

  /// Returns the port behind which the station is, if that is known.
  [[nodiscard]] std::optional<std::uint16_t> port_of_station(
      std::uint64_t mac, Time now, const ForwarderLane& lane) const noexcept {
    return find_station(0, mac, now, lane);
  }
  [[nodiscard]] std::optional<std::uint16_t> port_to(std::uint32_t address) const noexcept {
    return routes_.port_to(address);
  }

  [[nodiscard]] const MacAddress& mac() const noexcept { return mac_; }
  [[nodiscard]] bool looks_at_macs() const noexcept { return looks_at_macs_; }
  [[nodiscard]] bool learning() const noexcept { return learning_; }

 private:
  struct OwnAddress {
    std::uint32_t address = 0;
    std::optional<std::uint16_t> port{};
  };

  struct Frame {
    const FrameSummary& summary;
    const FlowKey& flow;
    const std::uint8_t* bytes;
    std::uint16_t ingress;
    Time now;
  };

  [[nodiscard]] Verdict decide_uncommon(const Frame& frame, ForwarderLane& lane) const noexcept;
  [[nodiscard]] Verdict bridge(const Frame& frame, ForwarderLane& lane) const noexcept;
  [[nodiscard]] Verdict by_network_address(const Frame& frame, ForwarderLane& lane) const noexcept;
  [[nodiscard, gnu::always_inline]] Verdict route_to(const RouteTable::Target* target,
                                                     const FlowKey& flow, const Time& now,
                                                     ForwarderLane& lane) const noexcept {
    if (target == nullptr) [[unlikely]]
      return {.reason = DropReason::kNoRoute};
    if (target->hops == 0) [[unlikely]]
      return {.reason = DropReason::kForSwitch};
    const NextHop& hop = routes_.choose(*target, flow, now, lane.spreading);
    return {.action = Action::kRoute, .port = hop.port, .hop = &hop};
  }
  void learn(const Frame& frame, ForwarderLane& lane) const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> find_station(std::uint16_t vlan, std::uint64_t mac,
                                                          Time now,
                                                          const ForwarderLane& lane) const noexcept;
  [[nodiscard]] bool answers(const Frame& frame) const noexcept;

  L2Config l2_;
  bool learning_;
  bool looks_at_macs_;  ///< whether the switch learns or has static stations
  RouteTable routes_;
  std::unique_ptr<MacTable> statics_;  ///< static stations, for every VLAN; only if there are any
  MacAddress mac_{};
  std::uint64_t own_mac_ = 0;  ///< the switch's MAC address; 0: none
  std::vector<OwnAddress> own_addresses_;
};

}  // namespace outrider::sw
