#include "trafficgen/neighbours/neighbour_report.h"

#include <ostream>

namespace outrider::tg {

void print_neighbours(std::ostream& out, const NeighbourhoodReport& report) {
  const NeighbourTotals& t = report.totals;
  if (report.neighbours.empty() && t.consumed() == 0) return;
  out << "  ARP: asked " << t.arp_requested << ", answered " << t.arp_answered << ", ignored "
      << t.arp_ignored << "; pings answered " << t.echoes_answered << '\n';
  if (t.address_conflicts != 0)
    out << "  ARP: somebody else claimed an address of ours " << t.address_conflicts << " times\n";
  if (t.table_full != 0) out << "  ARP: no room for " << t.table_full << " neighbours\n";
  for (const auto& n : report.neighbours) {
    const bool known = n.state == "fixed" || n.state == "learned";
    if (known && n.unresolved == 0) continue;
    out << "  neighbour " << n.address << " on device " << n.device << ": "
        << (n.mac.empty() ? "never answered" : "did not always answer") << " (" << n.requests
        << " ARP requests); packets lost to it: " << n.unresolved << " unresolved\n";
  }
}

}  // namespace outrider::tg
