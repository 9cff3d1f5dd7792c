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

/// One switch: parse -> signal -> forward -> classify -> egress port. State that
/// belongs to a queue lives in its EgressPort; here are only tables that are
/// fixed after start-up, the signal gate, and the counters of what never got to
/// a port.
///
/// Identity: received == sum over ports of arrived + dropped before a port.
/// Not thread-safe: one lcore owns it.
class Switch final : public Node {
 public:
  /// @param config must be valid, see validate(SwitchProcessConfig)
  Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits);

  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;

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
  struct Decision {
    EgressPort* out = nullptr;
    bool routed = false;  ///< by address, so the TTL counts; not by MAC
  };
  [[nodiscard]] Decision forward(Packet& packet, const ParsedPacket& parsed) noexcept;
  [[nodiscard]] TrafficClass classify(const ParsedPacket& parsed) const noexcept;
  [[nodiscard]] SignalGate::Verdict judge_signal(const Packet& packet, const ParsedPacket& parsed,
                                                 Time now, tos_signal::Signal& signal) noexcept;
  void drop(Packet* packet, DropReason reason) noexcept;

  std::string name_;
  PortRange ddl_ports_;
  std::vector<std::unique_ptr<EgressPort>> ports_;
  PrefixTable routes_;
  std::unordered_map<std::uint64_t, std::uint16_t> mac_routes_;  ///< filled at start-up
  SignalGate gate_;

  std::uint64_t received_ = 0;
  std::array<std::uint64_t, kDropReasons> dropped_{};  ///< before a port; class not known yet
  std::uint64_t signals_bad_code_ = 0;
  std::uint64_t signals_not_accepted_ = 0;
  std::uint64_t signals_over_rate_ = 0;
};

}  // namespace outrider
