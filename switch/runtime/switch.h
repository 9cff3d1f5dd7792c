#pragma once

#include <rte_prefetch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/node.h"
#include "switch/config/config.h"
#include "switch/egress/egress_port.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/ingress.h"
#include "switch/runtime/start_signals.h"
#include "switch/runtime/switch_change.h"
#include "switch/runtime/switch_lane.h"

namespace outrider::sw {

/// A packet and the time at which it arrives at its egress port.
struct PortArrival {
  Packet* packet = nullptr;
  Time at{};
};

/// One switch. Its ingress half parses, forwards and classifies; its egress half takes signals
/// and hands packets to an egress port. The state of queues is in the EgressPort, other state
/// that changes with packets is in a SwitchLane, and the tables here change only by a reload.
///
/// Identity: received + copied + pause frames made == sum over ports of arrived + dropped before a
/// port + pause frames taken + on the way from one lcore to another.
/// Several lcores may call ingress() at once, each with its own lane. Only the lcore that owns
/// a port calls egress() for it. Everything else is for one lcore.
class Switch final : public Node, private AckSink {
 public:
  /// @param config must be valid, see validate(SwitchProcessConfig)
  /// @param index  of the switch in its process; it makes two switches choose independently
  /// among equal costs
  /// @throws EnvironmentError if there is no memory for its tables
  Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
         std::size_t lanes = 1, std::uint32_t index = 0);

  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    SwitchLane& own = lanes_.front();
    ingress<true>(own, port, packet, now, [&](std::uint16_t out, Packet* routed) {
      if (on_return(own, *ports_[port], routed, out, now)) [[unlikely]]
        return;
      egress(own, *ports_[out], routed, now);
    });
  }

  /// Parses, forwards and classifies. Takes ownership of the packet and drops it or passes it,
  /// with copies if it is flooded, to `hand_on(port index, packet)`.
  /// @param port  ingress port
  /// @param now   does not decrease from call to call of a lane
  /// @param hand_on  passed by value: references to what it captures would live in memory
  /// @tparam kLinked  whether the packet comes over a link, so that its headers may be known
  template <bool kLinked = false, class HandOn>
  void ingress(SwitchLane& lane, std::uint32_t port, Packet* packet, Time now,
               HandOn hand_on) noexcept {
    ++lane.received;
    const std::uint32_t out = forward_packet<kLinked>(lane, port, *packet, now);
    if (out >= kNoPort) [[unlikely]] {
      if (out == kFlooded)
        flood(lane, static_cast<std::uint16_t>(ports_.size()), port, packet, hand_on);
      else if (out == kPaused) take_pause(lane, port, packet, now);
      return;
    }
    ++lane.handed;
    hand_on(static_cast<std::uint16_t>(out), packet);
  }

  /// Shows a packet that arrived at port `in` what waits for returns there, before egress().
  /// @param out  its egress port
  /// @return whether that took ownership, of an ACK that has to wait or is of no use
  [[nodiscard]] bool on_return(SwitchLane& lane, EgressPort& in, Packet* packet, std::uint16_t out,
                               Time now) noexcept {
    in.returns().show(*packet, now);
    if (meta(*packet).tcp_offset == 0 && in.returns().concern()) [[unlikely]]
      write_lead(lane, in, *packet, now);
    return in.grants() != nullptr && take_ack(lane, in, packet, out, now);
  }

  /// Takes signals and hands the packet to the port. @pre ingress() has passed the packet on
  [[gnu::always_inline]] void egress(SwitchLane& lane, EgressPort& port, Packet* packet,
                                     Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const bool bare_segment = m.tcp_offset != 0 && m.payload_bytes == 0;
    bool signal = bare_segment && take_tos_signal(lane, port, *packet, now);
    if (m.flow.destination_port == lane.tables->signal_port) [[unlikely]]
      signal = signal || take_udp_signal(lane, port, *packet, now);
    if (lane.tables->predicts && m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0)
        [[unlikely]]
      note_source(lane, *packet);
    port.enqueue(packet, signal, now);
  }

  /// Does the same for all packets that a poll brings for one port, in order of time.
  void egress(SwitchLane& lane, EgressPort& port, std::span<const PortArrival> arrivals) noexcept {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      // With many ports the metadata have left the first-level cache since ingress.
      if (i + kFetchedAhead < arrivals.size())
        rte_prefetch0(&meta(*arrivals[i + kFetchedAhead].packet));
      egress(lane, port, arrivals[i].packet, arrivals[i].at);
    }
  }

  [[nodiscard]] SwitchLane& lane(std::size_t index) noexcept { return lanes_[index]; }
  [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }
  [[nodiscard]] EgressPort& port(std::uint32_t index) noexcept { return *ports_[index]; }
  [[nodiscard]] const EgressPort& port(std::uint32_t index) const noexcept {
    return *ports_[index];
  }
  [[nodiscard]] std::uint32_t ports() const noexcept {
    return static_cast<std::uint32_t>(ports_.size());
  }
  /// Returns whether the admission of packets to a port depends on what other ports hold.
  [[nodiscard]] bool shares_buffer() const noexcept { return buffer_ != nullptr; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns the port by which packets to `address` leave, the first of equal costs.
  [[nodiscard]] std::optional<std::uint16_t> route(std::uint32_t address) const noexcept {
    return lanes_.front().tables->forwarder.port_to(address);
  }

  /// Prepares the change of the switch from one configuration to another. A control thread
  /// calls it while no other change is under way.
  /// @throws EnvironmentError if there is no memory for its tables
  [[nodiscard]] SwitchChange prepare(const SwitchConfig& from, const SwitchConfig& to) const;
  /// Applies the changes of all lanes and ports, without allocating or freeing memory. Where
  /// several lcores own them, each applies its part. @pre one lcore owns them all
  void apply(SwitchChange& change, Time now) noexcept;
  /// Moves the old tables to `change`. The control thread calls it once all have applied it.
  void retire(SwitchChange& change) noexcept {
    if (change.tables) std::swap(tables_, change.tables);
  }

  /// Adds this switch's counters and queues to the report.
  /// @param between  packets that ingress() has handed on and egress() has not got yet
  void fill(SwitchReport& report, Time now, std::uint64_t between = 0) const;
  /// Writes the counters of all its lanes and ports to the cells. @pre one lcore owns them all
  void publish(SwitchCells& to, Time now) noexcept;

  void flush() noexcept;

 private:
  static constexpr std::size_t kFetchedAhead = 4;  ///< packets

  /// Takes a pause frame, which never passes a switch with a lossless queue.
  [[gnu::noinline]] void take_pause(SwitchLane& lane, std::uint32_t port, Packet* packet,
                                    Time now) noexcept;
  void join_subscribers(const SwitchConfig& config);
  void pass_ack(Packet* ack, std::uint16_t out, Time now) noexcept override;
  void drop_ack(Packet* ack) noexcept override;

  std::string name_;
  std::uint32_t index_;
  std::uint64_t seed_;
  std::unique_ptr<SwitchTables> tables_;      ///< lanes use them, or newer ones during a reload
  std::unique_ptr<SharedBuffer> buffer_;      ///< must outlive the ports; nullptr: none
  std::unique_ptr<LosslessBuffer> lossless_;  ///< the same
  std::vector<std::unique_ptr<EgressPort>> ports_;
  std::vector<SwitchLane> lanes_;
};

}  // namespace outrider::sw
