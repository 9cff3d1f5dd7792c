#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/node.h"
#include "switch/config/config.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/reload.h"

namespace outrider::sw {

class Switch;

/// A port whose far end is outside the network: a host in virtual time, a device in the other
/// runtimes.
struct EdgePort {
  std::uint32_t switch_index = 0;
  std::uint32_t port_index = 0;
  std::string device;  ///< DeviceConfig::name
  Duration delay{};
};

/// The switches of one process and the links among them, driven by one event loop. It is the
/// same in every runtime: only the nodes at the edges and the caller that advances the loop
/// differ. Not thread-safe: one lcore owns it.
class SwitchNetwork {
 public:
  /// @param config must be valid, see validate(). @param loop must outlive the network
  SwitchNetwork(const SwitchProcessConfig& config, EventLoop& loop);
  ~SwitchNetwork();
  SwitchNetwork(const SwitchNetwork&) = delete;
  SwitchNetwork& operator=(const SwitchNetwork&) = delete;

  [[nodiscard]] std::span<const EdgePort> edges() const noexcept { return edges_; }

  /// Returns the port by which packets to `address` leave a switch.
  [[nodiscard]] std::optional<std::uint32_t> route(std::uint32_t switch_index,
                                                   std::uint32_t address) const noexcept;

  /// Sends packets that leave edge port `edge` to `to`, after the port's delay. Call once per
  /// edge, before the first packet.
  void connect(std::uint32_t edge, Node& to, std::uint32_t to_port);

  /// Makes every egress port split the waiting times of packets that have an owner. Call once,
  /// before the first packet. @pre all packets are from a pool with attribution
  void attribute(std::uint32_t owners);

  /// Returns the link from outside into edge port `edge`, with the port's delay.
  [[nodiscard]] Link& ingress(std::uint32_t edge) noexcept;

  /// Takes ownership of a packet that a device received. If several hosts share the device, the
  /// sender's learned station or the route back to its source address gives the edge port, so
  /// that each host keeps its own delay. @pre `arrived` does not decrease
  void receive_from_device(std::uint32_t device, Packet* packet, Time arrived) noexcept;

  /// Returns the switches that a reload may change, see SwitchReload.
  [[nodiscard]] std::vector<Switch*> switches() const;
  /// Applies a reload. @pre the loop has run up to `now`
  void apply(ReloadChange& change, Time now) noexcept;

  /// Releases all resident packets. A report made before counts them as resident.
  void flush() noexcept;

  /// Returns all counters and records as of `now`, and checks the ledger.
  [[nodiscard]] SwitchReport report(Time now) const;
  /// Writes the counters to the cells. `loop` holds the loop's other numbers. Allocates nothing.
  void publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept;

  /// Returns the number of packets in queues, in service or on links.
  [[nodiscard]] std::uint64_t resident() const noexcept;

 private:
  SwitchProcessConfig config_;
  EventLoop& loop_;
  std::vector<std::unique_ptr<Switch>> switches_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<EdgePort> edges_;
  std::vector<Link*> ingress_;  ///< [edges_.size()]
  /// [devices] edge ports of the device, all of one switch
  std::vector<std::vector<std::uint32_t>> by_device_;
  std::vector<Link*> egress_;  ///< one per connected edge
};

}  // namespace outrider::sw
