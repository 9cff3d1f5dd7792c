#include "switch/report/report_text.h"

#include <utility>

#include "switch/config/program_name.h"

namespace outrider::sw {
namespace {

template <class E>
void print_reasons(std::ostream& out, const char* title, const PerClass<PerReason<E>>& by_class) {
  out << title;
  bool any = false;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    for (std::size_t i = 0; i < by_class.values[c].size(); ++i) {
      if (by_class.values[c][i] == 0) continue;
      out << (any ? ", " : " ") << by_class.values[c][i] << ' ' << kTrafficClassNames[c] << ' '
          << names_of(E{})[i];
      any = true;
    }
  out << (any ? "\n" : " none\n");
}

/// Prints what was held for a bottleneck beyond the port, and what cannot be.
void print_remote(std::ostream& out, const RemoteReport& b) {
  out << "    beyond " << b.name << ": armed " << b.regulator.starts_armed << ", regulated "
      << static_cast<double>(b.regulated_ns) / 1e6 << " ms, windows held in "
      << b.window.answers[WindowReason::kHeld] << " of " << sum(b.window.answers) << " answers\n";
  if (b.window.flows_without_answers != 0)
    out << "    beyond " << b.name << ": " << b.window.flows_without_answers
        << " flows cannot be held: their ACKs do not come back through this port\n";
}

void print_queue(std::ostream& out, const QueueReport& q) {
  if (sum(q.arrived) == 0) return;
  out << "  queue " << q.switch_name << '.' << q.port_name << '[' << q.queue << "]: arrived "
      << sum(q.arrived) << ", transmitted " << sum(q.transmitted) << " packets, bursts "
      << q.bursts.size() << '\n';
  print_reasons(out, "    drops:", q.drops);
  print_reasons(out, "    marks:", q.marks);
  out << "    regulation: armed " << q.starts_armed << ", repeated " << q.starts_repeated
      << ", refused "
      << q.starts_stale + q.starts_refused_budget + q.starts_refused_sender + q.starts_refused_table
      << ", recovered " << q.recovered_arrival + q.recovered_burst_end + q.recovered_timer
      << ", expired " << q.expired << ", regulated " << static_cast<double>(q.regulated_ns) / 1e6
      << " ms\n";
  for (const auto& beyond : q.beyond_by_name) print_remote(out, beyond);
}

/// Prints name and count of each fault that occurred.
void print_faults(std::ostream& out, const PerReason<udp_signal::Fault>& by_fault) {
  for (std::size_t f = 0; f < by_fault.size(); ++f)
    if (by_fault[f] != 0) out << ", " << udp_signal::kFaultNames[f] << ' ' << by_fault[f];
}

/// Prints what became of signed signals, and of unsigned ones where all must be signed.
void print_signed(std::ostream& out, const SignalCounts& n) {
  const std::pair<const char*, std::uint64_t> counts[] = {
      {"signed", n.signals_signed},
      {"unsigned", n.signals_unsigned},
      {"unknown key", n.signals_unknown_key},
      {"bad tag", n.signals_bad_tag},
      {"replayed", n.signals_replayed},
      {"no window", n.signals_no_window},
      {"over key rate", n.signals_over_key_rate},
      {"not authorised", n.signals_not_authorised}};
  for (const auto& [name, count] : counts)
    if (count != 0) out << ", " << name << ' ' << count;
}

}  // namespace

void print_summary(std::ostream& out, const SwitchReport& r) {
  out << kSwitchProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s\n"
      << "  packets: received " << r.received << " = transmitted " << r.transmitted << " + dropped "
      << sum(r.drops) << " + resident " << r.resident << "; ledger "
      << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << '\n';
  print_reasons(out, "  drops:", r.drops);
  for (const auto& queue : r.queues) print_queue(out, queue);
  out << "  signals: bad code " << r.signals_bad_code << ", not accepted " << r.signals_not_accepted
      << ", over rate " << r.signals_over_rate;
  print_faults(out, r.signals_bad_udp);
  print_signed(out, r);
  const double run_s = static_cast<double>(r.end_ns) / 1e9;
  if (run_s > 0)
    out << "\n  busy: " << static_cast<double>(r.busy_ns) / 1e9 / run_s << " lcores on average";
  out << '\n'
      << "  devices: " << device_losses_text(r) << '\n'
      << "  longest gap between two polls: " << static_cast<double>(r.longest_poll_gap_ns) / 1e3
      << " us\n";
}

}  // namespace outrider::sw
