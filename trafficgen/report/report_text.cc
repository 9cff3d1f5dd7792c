#include "trafficgen/report/report_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trafficgen/measure/program_name.h"

namespace outrider::tg {
namespace {

void print_bursts(std::ostream& out, const GeneratorReport& r) {
  std::vector<std::int64_t> took_ns;
  std::uint64_t bytes = 0;
  for (const auto& burst : r.bursts) {
    if (burst.delivered_ns == kNotYet_ns || burst.first_sent_ns == kNotYet_ns) continue;
    took_ns.push_back(burst.delivered_ns - burst.first_sent_ns);
    bytes += burst.bytes;
  }
  out << "  bursts: " << took_ns.size() << " of " << r.bursts.size() << " delivered, " << bytes
      << " bytes";
  if (!took_ns.empty()) {
    std::sort(took_ns.begin(), took_ns.end());
    out << "; completion time median " << static_cast<double>(took_ns[took_ns.size() / 2]) / 1e6
        << " ms, longest " << static_cast<double>(took_ns.back()) / 1e6 << " ms";
  }
  out << '\n';
}

void print_background(std::ostream& out, const GeneratorReport& r) {
  std::uint64_t bytes = 0;
  std::uint64_t flows = 0;
  std::uint64_t retransmitted = 0;
  for (const auto& flow : r.flows) {
    retransmitted += flow.retransmitted;
    if (flow.traffic_class != TrafficClass::kBackground) continue;
    ++flows;
    bytes += flow.delivered_bytes;
  }
  const double bits_per_second =
      r.end_ns == 0 ? 0 : static_cast<double>(bytes) * 8e9 / static_cast<double>(r.end_ns);
  if (flows > 0)
    out << "  background: " << flows << (flows == 1 ? " long flow, " : " long flows, ") << bytes
        << " bytes, " << bits_per_second / 1e6 << " Mbit/s of payload\n";
  if (!r.flows.empty())
    out << "  retransmitted segments of bursts and long flows: " << retransmitted << '\n';
}

void print_captures(std::ostream& out, const GeneratorReport& r) {
  for (const CaptureReport& c : r.captures)
    out << "  capture \"" << c.name << "\": " << c.sent << " frames sent, " << c.received
        << " received; latest " << static_cast<double>(c.latest_ns) / 1e3
        << " us after it was due\n";
}

void print_requests(std::ostream& out, const GeneratorReport& r) {
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (const auto& pair : r.requests) {
    const Histogram& l = pair.latency_ns;
    out << "  requests \"" << pair.name << "\": " << pair.open << " connections open, "
        << pair.closed << " closed; " << pair.completed << " answered";
    if (l.count() != 0)
      out << "; latency [us] min " << us(l.min()) << ", median " << us(l.quantile(0.5)) << ", p99 "
          << us(l.quantile(0.99)) << ", p99.99 " << us(l.quantile(0.9999)) << ", longest "
          << us(l.max());
    out << '\n';
  }
}

/// Prints why queue pairs gave up, if any did.
void print_ended(std::ostream& out, const char* whose, const RoceCounters& c) {
  const std::array<std::pair<std::uint64_t, const char*>, 5> ended{
      {{c.ended_by_silence, "silence of the peer"},
       {c.ended_not_ready, "receiver not ready"},
       {c.ended_invalid_request, "invalid request"},
       {c.ended_remote_access, "remote access error"},
       {c.ended_remote_operation, "remote operational error"}}};
  for (const auto& [count, why] : ended)
    if (count != 0)
      out << "  queue pairs of " << whose << " that gave up: " << count << ", " << why << '\n';
}

}  // namespace

void print_summary(std::ostream& out, const GeneratorReport& r) {
  out << kProgram << ": " << static_cast<double>(r.end_ns) / 1e9 << " s, jobs "
      << (r.jobs_finished ? "finished" : "not finished") << '\n'
      << "  packets: sent " << r.sent << ", received " << r.received << ", consumed " << r.consumed
      << "; ledger " << (r.ledger_balanced ? "balanced" : "NOT BALANCED") << "\n  drops:";
  for (std::size_t i = 0; i < kDropReasons; ++i)
    if (r.drops[i] != 0) out << ' ' << r.drops[i] << ' ' << kDropReasonNames[i];
  out << (sum(r.drops) == 0 ? " none\n" : "\n");
  print_bursts(out, r);
  print_jobs(out, r.jobs);
  print_background(out, r);
  print_captures(out, r);
  print_ended(out, "jobs", r.roce);
  print_ended(out, "background and transfers", r.background_roce);
  print_transfers(out, r.transfers, r.payload);
  print_requests(out, r);
  print_flow_groups(out, r.flow_groups, r.end_ns);
  print_neighbours(out, r.neighbourhood);
  out << to_text(r.streams);
  out << "  signals: START sent " << r.starts_sent << ", answered " << r.acks_received
      << ", timed out " << r.ack_timeouts << '\n'
      << "  waits for a buffer: " << r.mbuf_exhausted
      << ", for a full device: " << r.device_full_waits << '\n'
      << "  devices: " << device_losses_text(r)
      << "\n  longest gap between two polls: " << static_cast<double>(r.longest_poll_gap_ns) / 1e3
      << " us\n";
}

}  // namespace outrider::tg
