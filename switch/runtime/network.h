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

/// Returns all edge ports of a network: switch by switch, port by port.
[[nodiscard]] std::vector<EdgePort> edge_ports(const SwitchProcessConfig& config);

/// The part of a network that this process builds, where several processes share the network, and
/// who drives it.
struct NetworkShare {
  std::vector<bool> switches{};  ///< [switches]; empty: all
  std::vector<bool> outside{};   ///< [edge ports] what is behind the port is here; empty: all
  /// [switches] the loop of each, any for those of other processes; empty: the network's own
  std::vector<EventLoop*> loops{};

  [[nodiscard]] bool has_switch(std::size_t s) const noexcept {
    return switches.empty() || switches[s];
  }
  /// Returns the loop of a switch. @param otherwise  the network's own
  [[nodiscard]] EventLoop& loop_of(std::size_t s, EventLoop& otherwise) const noexcept {
    return loops.empty() ? otherwise : *loops[s];
  }
  [[nodiscard]] bool has_outside(std::size_t edge) const noexcept {
    return outside.empty() || outside[edge];
  }
};

/// One direction of a wire of which this process has one end. Its number is the same in all
/// processes: see trunk_wire(), inward_wire() and outward_wire().
struct CutWire {
  std::uint32_t number = 0;
  Link* link = nullptr;
};

/// Returns the number of one direction of config.links[index].
[[nodiscard]] constexpr std::uint32_t trunk_wire(std::size_t index, bool from_a) noexcept {
  return static_cast<std::uint32_t>(2 * index + (from_a ? 0 : 1));
}
/// Returns the number of the wire into edge port `edge` of a network with `links` links.
[[nodiscard]] constexpr std::uint32_t inward_wire(std::size_t links, std::size_t edge) noexcept {
  return static_cast<std::uint32_t>(2 * (links + edge));
}
/// Returns the number of the wire out of edge port `edge`.
[[nodiscard]] constexpr std::uint32_t outward_wire(std::size_t links, std::size_t edge) noexcept {
  return inward_wire(links, edge) + 1;
}

/// The switches of one process and the links among them, driven by one event loop. It is the
/// same in every runtime: only the nodes at the edges and the caller that advances the loop
/// differ. Not thread-safe: one lcore owns it.
///
/// The switches may have several loops, which take turns. A wire is in the loop of its far end. So
/// the caller lets no loop run further ahead of another than the shortest wire between them, see
/// lab::Simulation.
///
/// With a share, only its switches and the wires at them and at its hosts are made, in the order
/// that they have in the whole: so they keep their order in the event loop, and their numbers.
class SwitchNetwork {
 public:
  /// @param config must be valid, see validate(). @param loop must outlive the network
  SwitchNetwork(const SwitchProcessConfig& config, EventLoop& loop, NetworkShare share = {});
  ~SwitchNetwork();
  SwitchNetwork(const SwitchNetwork&) = delete;
  SwitchNetwork& operator=(const SwitchNetwork&) = delete;

  [[nodiscard]] std::span<const EdgePort> edges() const noexcept { return edges_; }

  /// Returns the port by which packets to `address` leave a switch.
  [[nodiscard]] std::optional<std::uint32_t> route(std::uint32_t switch_index,
                                                   std::uint32_t address) const noexcept;

  /// Sends packets that leave edge port `edge` to `to`, after the port's delay. Call once per
  /// edge of which either end is here, before the first packet.
  /// @param loop  of `to`; nullptr: the network's own
  void connect(std::uint32_t edge, Node& to, std::uint32_t to_port, EventLoop* loop = nullptr);
  /// Does the same for an edge port with its far end in another process.
  void connect_elsewhere(std::uint32_t edge);

  /// Returns the wires whose far end is in another process, and those whose near end is, by number.
  [[nodiscard]] std::span<const CutWire> leaving() const noexcept { return leaving_; }
  [[nodiscard]] std::span<const CutWire> coming() const noexcept { return coming_; }

  /// Makes every egress port split the waiting times of packets that have an owner. Call once,
  /// before the first packet. @pre all packets are from a pool with attribution
  void attribute(std::uint32_t owners);

  /// Returns the link from outside into edge port `edge`, with the port's delay.
  /// @pre either end of it is here
  [[nodiscard]] Link& ingress(std::uint32_t edge) noexcept;

  /// Takes ownership of a packet that a device received. If several hosts share the device, the
  /// sender's learned station or the route back to its source address gives the edge port, so
  /// that each host keeps its own delay. @pre `arrived` does not decrease
  void receive_from_device(std::uint32_t device, Packet* packet, Time arrived) noexcept;

  /// Returns the switches that a reload may change, see SwitchReload. @pre the share is all
  [[nodiscard]] std::vector<Switch*> switches() const;
  /// Applies a reload. @pre the loop has run up to `now`
  void apply(ReloadChange& change, Time now) noexcept;

  /// Does what a reload of `wanted` does to the switches that are here. @pre the loops have run up
  /// to `now`, and `wanted` differs from what is only in what a reload may change
  void change_to(const SwitchProcessConfig& wanted, Time now);

  /// Releases all resident packets. A report made before counts them as resident.
  void flush() noexcept;

  /// Returns all counters and records as of `now`, and checks the ledger.
  [[nodiscard]] SwitchReport report(Time now) const;
  /// Writes the counters to the cells. `loop` holds the loop's other numbers. Allocates nothing.
  void publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept;

  /// Returns the number of packets in queues, in service or on links.
  [[nodiscard]] std::uint64_t resident() const noexcept;

 private:
  /// The far end of a wire that leaves the process. What arrives here should have crossed before.
  class Elsewhere final : public Node {
   public:
    void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  };

  /// Returns whether the wire leads into an edge port.
  [[nodiscard]] bool is_inward(std::uint32_t wire) const noexcept;
  void make_trunks();
  void make_edges();
  /// Makes one direction of a wire, if either end is here. @return nullptr if not
  /// @param to  the far end and its loop; nullptr: in another process
  Link* make_wire(std::uint32_t number, Duration delay, Node* to, std::uint32_t to_port, bool from,
                  EventLoop& loop);

  SwitchProcessConfig config_;
  EventLoop& loop_;
  NetworkShare share_;
  Elsewhere elsewhere_;
  std::vector<std::unique_ptr<Switch>> switches_;  ///< [switches] or null: in another process
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<EdgePort> edges_;
  std::vector<Link*> ingress_;  ///< [edges_.size()] or null: both ends are in other processes
  /// [devices] edge ports of the device, all of one switch
  std::vector<std::vector<std::uint32_t>> by_device_;
  std::vector<Link*> egress_;  ///< one per connected edge
  std::vector<CutWire> leaving_, coming_;
};

}  // namespace outrider::sw
