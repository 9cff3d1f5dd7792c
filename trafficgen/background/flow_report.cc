#include "trafficgen/background/flow_report.h"

#include <ostream>
#include <sstream>

namespace outrider::tg {
namespace {

void print_class(std::ostream& out, const FlowClassReport& c) {
  if (c.completion_ns.count() == 0) return;
  const auto us = [&](double q) { return static_cast<double>(c.completion_ns.quantile(q)) / 1e3; };
  const auto times = [&](double q) {
    return static_cast<double>(c.slowdown_milli.quantile(q)) / 1e3;
  };
  out << "    " << c.above_bytes << " to ";
  if (c.up_to_bytes == UINT64_MAX) out << "any";
  else out << c.up_to_bytes;
  out << " B: " << c.completion_ns.count() << " flows; completion [us] median " << us(0.5)
      << ", p99 " << us(0.99) << ", p99.9999 " << us(0.999999) << ", longest "
      << static_cast<double>(c.completion_ns.max()) / 1e3 << "; slowdown median " << times(0.5)
      << ", p99 " << times(0.99) << ", p99.9999 " << times(0.999999) << ", worst "
      << static_cast<double>(c.slowdown_milli.max()) / 1e3 << '\n';
}

}  // namespace

std::string not_offered_text(const FlowGroupReport& group) {
  if (group.refused == 0) return {};
  std::ostringstream out;
  out << group.refused << " flows of \"" << group.name << "\" were not offered, the first at "
      << static_cast<double>(group.first_refused_ns) / 1e9 << " s: ";
  const std::uint64_t no_place = group.refused - group.refused_no_port;
  if (no_place > 0) out << no_place << " found as many open as may be (max_open, queue_pairs)";
  if (no_place > 0 && group.refused_no_port > 0) out << ", ";
  if (group.refused_no_port > 0)
    out << group.refused_no_port << " found every port to their receiver in use";
  return out.str();
}

void print_flow_groups(std::ostream& out, const std::vector<FlowGroupReport>& groups,
                       std::int64_t end_ns) {
  for (const auto& g : groups) {
    const double seconds = static_cast<double>(end_ns) / 1e9;
    out << "  flows \"" << g.name << "\": " << g.arrivals << " arrived, " << g.completed
        << " completed, " << g.open << " open, " << g.failed << " failed, " << g.refused
        << " refused\n    payload [Mbit/s]: asked " << static_cast<double>(g.offered_bps) / 1e6
        << ", arrived "
        << (end_ns == 0 ? 0 : static_cast<double>(g.arrived_bytes) * 8 / 1e6 / seconds)
        << ", delivered "
        << (end_ns == 0 ? 0 : static_cast<double>(g.delivered_bytes) * 8 / 1e6 / seconds)
        << "; retransmitted segments " << g.retransmitted << ", time-outs " << g.rtos_data << " + "
        << g.rtos_handshake << " of handshakes\n";
    if (const std::string text = not_offered_text(g); !text.empty()) out << "    " << text << '\n';
    if (g.after_end > 0)
      out << "    " << g.after_end << " flows of the list would begin after the end of the run\n";
    for (const auto& c : g.classes) print_class(out, c);
  }
}

std::string flow_records_csv(const std::vector<FlowGroupReport>& groups) {
  std::ostringstream out;
  out << "group,from,to,bytes,arrival_ns,established_ns,delivered_ns,slowdown,retransmitted,"
         "rtos\n";
  for (const auto& g : groups)
    for (const auto& r : g.records)
      out << g.name << ',' << r.from << ',' << r.to << ',' << r.bytes << ',' << r.arrival_ns << ','
          << r.established_ns << ',' << r.delivered_ns << ','
          << static_cast<double>(r.slowdown_milli) / 1e3 << ',' << r.retransmitted << ',' << r.rtos
          << '\n';
  return out.str();
}

}  // namespace outrider::tg
