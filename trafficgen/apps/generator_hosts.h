#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/event_loop.h"
#include "common/runtime/node.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/neighbours/neighbour_edge.h"

namespace outrider::tg {

/// Returns the number of owners for attribution: one for each worker of each job, from 1. Each
/// arrival of a job counts as a job. 0: attribution is off.
[[nodiscard]] std::uint32_t owners_of(const GeneratorConfig& config) noexcept;

/// The hosts of a generator and the neighbours of its devices. It finds the host that a packet from
/// a device is for. Vectors have an element for each host or device of the configuration; null
/// where another lcore has it.
class GeneratorHosts {
 public:
  /// @param config,options,pool must outlive this object
  GeneratorHosts(const GeneratorConfig& config, const Generator::Options& options, EventLoop& loop,
                 rte_mempool& pool);

  [[nodiscard]] const std::vector<std::unique_ptr<Host>>& all() const noexcept { return hosts_; }
  [[nodiscard]] const std::vector<std::unique_ptr<NeighbourEdge>>& neighbours() const noexcept {
    return neighbours_;
  }
  [[nodiscard]] const TransportMemory& memory() const noexcept { return memory_; }
  [[nodiscard]] bool owns(const std::string& host) const {
    return options_.share.has_host(config_, host);
  }
  [[nodiscard]] Host* named(const std::string& name) const;
  [[nodiscard]] std::vector<Host*> named(const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<std::uint32_t> index_of(std::uint32_t address) const noexcept;

  /// Does what Generator::egress(), connect_lcore(), expect() and receive_from_device() say.
  Node& egress(std::uint32_t device, Node& edge) noexcept;
  void connect_lcore(std::uint32_t lcore, Node& to);
  void expect(std::uint32_t device, std::span<Packet* const> packets) const noexcept;
  void receive(std::uint32_t device, Packet* packet, Time now) noexcept;

  /// Sets the counts of packets of hosts and devices, whatever became of them.
  /// @pre they are zero
  void add_packets(TrafficLive& live) const noexcept;

 private:
  void make_hosts(EventLoop& loop, rte_mempool& pool);
  [[nodiscard]] std::unique_ptr<NeighbourEdge> make_neighbours(std::uint32_t device,
                                                               EventLoop& loop,
                                                               rte_mempool& pool) const;
  /// @return nullptr if no host of this lcore behind that device has the address
  [[nodiscard]] Host* at(std::uint32_t address, std::uint32_t device) const noexcept;
  /// @return where packets for it go; nullptr if no other lcore's host behind that device has it
  [[nodiscard]] Node* elsewhere(std::uint32_t address, std::uint32_t device) const noexcept;
  /// Takes a pause frame, for all hosts behind the device. @return false if it is none, or no host
  /// there has a priority
  bool take_pause(std::uint32_t device, Packet* packet, Time now) noexcept;

  const GeneratorConfig& config_;
  const Generator::Options& options_;
  TransportMemory memory_;  ///< outlives the hosts
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_address_;  ///< sorted
  std::vector<std::uint32_t> device_of_;                             ///< [hosts]
  std::vector<std::vector<Host*>> behind_;                           ///< [devices] own hosts
  std::vector<std::unique_ptr<NeighbourEdge>> neighbours_;           ///< [devices] or null
  std::vector<Node*> others_;  ///< [lcores] or null, see connect_lcore(); empty: none
  std::uint64_t unknown_host_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t not_ipv4_ = 0;
  std::uint64_t pauses_taken_ = 0;  ///< from devices
};

}  // namespace outrider::tg
