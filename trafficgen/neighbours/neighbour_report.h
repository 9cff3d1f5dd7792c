#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"

namespace outrider::tg {

/// A neighbour: an address behind a device that no host of this process has.
struct NeighbourReport {
  std::string device;
  std::string address;
  std::string mac;               ///< empty: nobody ever answered for the address
  std::string state;             ///< "fixed", "learned", "asking", "silent"
  std::uint64_t requests = 0;    ///< ARP requests for it
  std::uint64_t unresolved = 0;  ///< packets to it that were dropped as unresolved
};

/// ARP and ICMP echo of all devices [packets].
/// Identity: arp_received == arp_answered + arp_learned_from + arp_ignored.
struct NeighbourTotals {
  std::uint64_t arp_received = 0;
  std::uint64_t arp_answered = 0;  ///< requests for one of our hosts; they are learned from, too
  std::uint64_t arp_learned_from = 0;  ///< replies to us
  std::uint64_t arp_ignored = 0;       ///< for others, or not IPv4 over Ethernet
  std::uint64_t arp_requested = 0;     ///< requests that we sent
  std::uint64_t echoes_answered = 0;
  std::uint64_t address_conflicts = 0;  ///< another machine claims an address of ours
  std::uint64_t table_full = 0;         ///< neighbours for which the table had no room

  [[nodiscard]] std::uint64_t consumed() const noexcept { return arp_received + echoes_answered; }
};

/// The reports of all devices' edges about their neighbours.
struct NeighbourhoodReport {
  NeighbourTotals totals;
  std::vector<NeighbourReport> neighbours;
};

/// Prints readable lines; nothing if no device has neighbours.
void print_neighbours(std::ostream& out, const NeighbourhoodReport& report);

// Bindings, see common/telemetry/json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NeighbourReport>
void fields(V& v, R& r) {
  v.value("device", r.device);
  v.value("address", r.address);
  v.value("mac", r.mac);
  v.value("state", r.state);
  v.value("requests", r.requests);
  v.value("unresolved", r.unresolved);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NeighbourTotals>
void fields(V& v, R& r) {
  v.value(counter("arp_received", "packets", "ARP packets that arrived"), r.arp_received);
  v.value(counter("arp_answered", "packets", "ARP requests for one of the hosts"), r.arp_answered);
  v.value(counter("arp_learned_from", "packets", "ARP replies to the hosts"), r.arp_learned_from);
  v.value(counter("arp_ignored", "packets", "ARP packets for others, or not IPv4 over Ethernet"),
          r.arp_ignored);
  v.value(counter("arp_requested", "packets", "ARP requests that were sent"), r.arp_requested);
  v.value(counter("echoes_answered", "packets", "ICMP echo requests that were answered"),
          r.echoes_answered);
  v.value(counter("address_conflicts", "packets", "ARP packets that claim an address of a host"),
          r.address_conflicts);
  v.value(counter("table_full", "times", "Times that the table had no room for a neighbour"),
          r.table_full);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, NeighbourhoodReport>
void fields(V& v, R& r) {
  v.value("totals", r.totals);
  v.value("neighbours", r.neighbours);
}

}  // namespace outrider::tg
