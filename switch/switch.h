#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/core/prefix_table.h"
#include "common/runtime/node.h"
#include "switch/config.h"
#include "switch/egress_port.h"
#include "switch/parse.h"
#include "switch/report.h"
#include "switch/signal_gate.h"

namespace outrider {

/// What one lcore may write on a packet's way through a switch. Lanes share nothing.
/// Identity: received == handed to ports + sum(dropped) of the same lane.
struct alignas(64) SwitchLane {
  explicit SwitchLane(const SignalConfig& signals) : gate(signals) {}

  SignalGate gate;
  std::uint64_t received = 0;
  std::uint64_t handed = 0;                           ///< to egress ports
  std::array<std::uint64_t, kDropReasons> dropped{};  ///< before a port; class not known yet
  std::uint64_t signals_bad_code = 0;
  std::uint64_t signals_not_accepted = 0;
  std::uint64_t signals_over_rate = 0;
};

/// One switch: parse -> forward -> classify, the ingress half, then signal -> egress
/// port. State that belongs to a queue lives in its EgressPort, what else changes with
/// packets in a SwitchLane; here are only tables that are fixed after start-up.
///
/// Identity: received == sum over ports of arrived + dropped before a port.
/// ingress() may be called by several lcores at once, each with a lane of its own;
/// egress() by the lcore that owns the port; all else by one lcore.
class Switch final : public Node {
 public:
  /// @param config must be valid, see validate(SwitchProcessConfig)
  Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
         std::size_t lanes = 1);

  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    SwitchLane& own = lanes_.front();
    ingress(own, port, packet,
            [&](std::uint16_t out, Packet* routed) { egress(own, *ports_[out], routed, now); });
  }

  /// Parses, forwards and classifies. Takes ownership of the packet: drops it, or gives
  /// it to `hand_on(port index, packet)`.
  /// @param port  that it came in by
  template <class HandOn>
  void ingress(SwitchLane& lane, std::uint32_t port, Packet* packet, HandOn&& hand_on) noexcept {
    ++lane.received;
    const auto out = forward(lane, port, *packet);
    if (!out) return;
    ++lane.handed;
    hand_on(*out, packet);
  }

  /// Hears signals and hands the packet to the port. @pre it came from ingress()
  void egress(SwitchLane& lane, EgressPort& port, Packet* packet, Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const bool bare_segment = m.tcp_offset != 0 && m.payload_bytes == 0;
    const bool signal = bare_segment && hears_signal(lane, port, *packet, now);
    port.enqueue(packet, signal, now);
  }

  [[nodiscard]] SwitchLane& lane(std::size_t index) noexcept { return lanes_[index]; }
  [[nodiscard]] EgressPort& port(std::uint32_t index) noexcept { return *ports_[index]; }
  [[nodiscard]] const EgressPort& port(std::uint32_t index) const noexcept {
    return *ports_[index];
  }
  [[nodiscard]] std::uint32_t ports() const noexcept {
    return static_cast<std::uint32_t>(ports_.size());
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Port that packets to `address` leave by.
  [[nodiscard]] std::optional<std::uint16_t> route(std::uint32_t address) const noexcept {
    return routes_.lookup(address);
  }

  /// Adds this switch's counters and queues to the report.
  void fill(SwitchReport& report, Time now) const;
  void add_to(SwitchLive& live) const noexcept;

  void flush() noexcept;

 private:
  /// @return the port to leave by; nothing: the packet is dropped
  [[nodiscard]] std::optional<std::uint16_t> forward(SwitchLane& lane, std::uint32_t port,
                                                     Packet& packet) noexcept;
  [[nodiscard]] std::optional<std::uint16_t> port_by_mac(Packet& packet) const noexcept;
  [[nodiscard]] TrafficClass classify(const PacketMeta& m) const noexcept;
  [[nodiscard]] bool hears_signal(SwitchLane& lane, EgressPort& port, Packet& packet,
                                  Time now) noexcept;
  static void drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept;

  std::string name_;
  PortRange ddl_ports_;
  std::vector<std::unique_ptr<EgressPort>> ports_;
  PrefixTable routes_;
  std::unordered_map<std::uint64_t, std::uint16_t> mac_routes_;  ///< filled at start-up
  std::vector<SwitchLane> lanes_;
};

}  // namespace outrider
