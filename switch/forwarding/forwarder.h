#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/mac_table.h"
#include "common/net/parse_headers.h"
#include "switch/config/config.h"
#include "switch/forwarding/route_table.h"

namespace outrider::sw {

/// What one lcore has learned, for the others: each has a table of its own.
struct StationNews {
  MacKey key{};
  std::uint64_t port = 0;
};

/// What changes as packets are forwarded: one for each lcore that does.
struct ForwarderLane {
  std::unique_ptr<MacTable> stations{};  ///< learned; only if the switch learns
  RouteTable::Turns turns{};
  /// Not told yet. Bounded by its capacity, which is zero if there is nobody to tell: what
  /// finds no room is told when the station is heard again, and flooded until then.
  std::vector<StationNews> news{};

  void hear(const StationNews& from_other, Time now) noexcept {
    stations->learn(from_other.key, static_cast<std::uint16_t>(from_other.port), now);
  }
};

/// Decides where a packet goes; const after start-up.
///
/// 1. A switch that learns notes where the source is.
/// 2. A station that is known, static or learned, gets the packet as it is.
/// 3. IP goes by the longest prefix if the destination MAC address is the switch's own,
///    or if the switch does not learn; ARP likewise by its target, unless the switch
///    answers it.
/// 4. A switch that learns floods the rest: broadcast, multicast, unknown stations.
///
/// What a switch is not configured for costs one branch.
class Forwarder {
 public:
  enum class Action : std::uint8_t {
    kBridge,  ///< to `port`, untouched
    kRoute,   ///< to `hop`: TTL and, if the hop has one, MAC addresses change
    kFlood,   ///< to all ports but that of ingress
    kAnswer,  ///< an ARP request for the switch, which replies by the port of ingress
    kDrop,
  };
  struct Verdict {
    Action action = Action::kDrop;
    DropReason reason{};           ///< of kDrop
    std::uint16_t port = 0;        ///< of kBridge and kRoute
    const NextHop* hop = nullptr;  ///< of kRoute
  };

  /// @param config must be valid. @param index see RouteTable
  /// @throws EnvironmentError if there is no memory for the tables
  Forwarder(const SwitchConfig& config, std::uint32_t index);

  /// @param frame starts at the Ethernet header; parse_headers() has read it as `summary`
  /// @param now does not decrease
  [[nodiscard]] Verdict decide(const FrameSummary& summary, const FlowKey& flow,
                               const std::uint8_t* frame, std::uint16_t ingress, Time now,
                               ForwarderLane& lane) const noexcept {
    if (looks_at_macs_ || summary.kind != FrameKind::kIpv4) [[unlikely]]
      return decide_uncommon({summary, flow, frame, ingress, now}, lane);
    return route_to(routes_.find(flow.destination_address), flow, lane);
  }

  /// @param shares_news other lanes are told of what it learns
  /// @throws std::bad_alloc
  [[nodiscard]] ForwarderLane make_lane(bool shares_news) const;

  /// @throws std::bad_alloc
  [[nodiscard]] RouteTable::Turns make_turns() const {
    return RouteTable::Turns(routes_.targets());
  }

  /// Starts to fetch what decide() will read of the tables. @pre the frame has its MAC
  /// addresses
  void prefetch(const std::uint8_t* frame, const ForwarderLane& lane) const noexcept {
    if (!looks_at_macs_) return;
    if (statics_) statics_->prefetch(MacKey::of(MacKey::kAnyVlan, mac_at(frame)));
    if (!learning_) return;
    lane.stations->prefetch(MacKey::of(0, mac_at(frame)));
    lane.stations->prefetch(MacKey::of(0, mac_at(frame + sizeof(MacAddress))));
  }

  /// Where a packet that comes from there would have come in, if that is known.
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
  [[nodiscard]] Verdict route_to(const RouteTable::Target* target, const FlowKey& flow,
                                 ForwarderLane& lane) const noexcept {
    if (target == nullptr) [[unlikely]]
      return {.reason = DropReason::kNoRoute};
    if (target->hops == 0) [[unlikely]]
      return {.reason = DropReason::kForSwitch};
    const NextHop& hop = routes_.choose(*target, flow, lane.turns);
    return {.action = Action::kRoute, .port = hop.port, .hop = &hop};
  }
  void learn(const Frame& frame, ForwarderLane& lane) const noexcept;
  [[nodiscard]] std::optional<std::uint16_t> find_station(std::uint16_t vlan, std::uint64_t mac,
                                                          Time now,
                                                          const ForwarderLane& lane) const noexcept;
  [[nodiscard]] bool answers(const Frame& frame) const noexcept;

  L2Config l2_;
  bool learning_;
  bool looks_at_macs_;  ///< learns, or has static stations
  RouteTable routes_;
  std::unique_ptr<MacTable> statics_;  ///< of every VLAN; only if there are any
  MacAddress mac_{};
  std::uint64_t own_mac_ = 0;  ///< 0: none
  std::vector<OwnAddress> own_addresses_;
};

}  // namespace outrider::sw
