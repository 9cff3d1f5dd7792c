#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/dpdk/packet/packet.h"
#include "common/net/arp.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/node.h"
#include "trafficgen/neighbours/neighbour_report.h"
#include "trafficgen/neighbours/neighbours.h"

namespace outrider::tg {

/// Connects the NICs of one device's hosts with that device. It gives leaving packets the MAC
/// address of their next hop, and does the work below IP for these hosts: it asks and answers ARP
/// and answers ICMP echo. NeighbourTable decides, this class acts.
///
/// While a neighbour is asked for, the latest packet to it is held (RFC 1122, 2.3.2.2) and earlier
/// ones are dropped. Answers leave at once, bypassing the emulated NICs, whose rate does not count
/// them.
///
/// Identity: packets from hosts == passed + unresolved + held. Not thread-safe: one lcore owns it.
/// Only ARP requests allocate a buffer.
class NeighbourEdge final : public Node, public EventSource {
 public:
  struct Setup {
    std::string device;                  ///< name, for the report
    NeighbourTable::Setup table{};       ///< without the hosts
    std::vector<std::uint32_t> hosts{};  ///< addresses of all emulated hosts
    std::vector<std::uint32_t> own{};    ///< those behind this device
  };

  /// @param pool for ARP requests; must outlive the edge
  NeighbourEdge(const Setup& setup, EventLoop& loop, rte_mempool& pool);
  NeighbourEdge(const NeighbourEdge&) = delete;
  NeighbourEdge& operator=(const NeighbourEdge&) = delete;
  ~NeighbourEdge();

  /// Sets where frames leave. Call it once, before the first packet.
  void connect(Node& out) noexcept { out_ = &out; }

  /// Takes a packet from a host, and passes it on, holds it or drops it.
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override;
  /// Takes a packet from the device if it is handled below the hosts (ARP, ICMP echo).
  /// @return false if it is for a host; the caller still owns it then
  bool take(Packet* packet, Time now) noexcept;
  Time fire(Time now) noexcept override;

  [[nodiscard]] NeighbourTotals totals() const noexcept {
    NeighbourTotals totals = totals_;
    totals.table_full = table_.table_full();
    return totals;
  }
  [[nodiscard]] std::uint64_t unresolved() const noexcept { return unresolved_total_; }
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
  [[nodiscard]] std::uint64_t held() const noexcept;
  void fill(NeighbourhoodReport& report) const;

 private:
  [[nodiscard]] bool is_own(std::uint32_t address) const noexcept;
  void take_arp(Packet* packet, ArpPacket& arp, Time now) noexcept;
  void request(std::uint32_t entry, Time now) noexcept;
  void hold(std::uint32_t entry, Packet* packet) noexcept;
  void pass(Packet* packet, const MacAddress& mac, Time now) noexcept;
  void release_held(std::uint32_t entry, Time now) noexcept;
  void drop(std::uint32_t entry, Packet* packet) noexcept;

  std::string device_;
  std::vector<std::uint32_t> own_;  ///< sorted
  EventLoop& loop_;
  SourceId id_;
  rte_mempool& pool_;
  NeighbourTable table_;
  Node* out_ = nullptr;
  std::vector<Packet*> held_;              ///< [table entries]
  std::vector<std::uint64_t> unresolved_;  ///< [table entries]
  std::vector<std::uint32_t> asker_;       ///< [table entries] host that asks
  std::uint64_t unresolved_total_ = 0;
  std::uint64_t passed_ = 0;
  NeighbourTotals totals_;
};

}  // namespace outrider::tg
