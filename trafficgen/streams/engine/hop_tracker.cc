#include "trafficgen/streams/engine/hop_tracker.h"

#include <algorithm>

namespace outrider::tg {

HopReport* HopTracker::at(const hop_trace::Record& r) noexcept {
  for (auto& known : report_.hops)
    if (known.switch_id == r.switch_id && known.port == r.port && known.queue == r.queue)
      return &known;
  if (report_.hops.size() == kMaxHopReports) return nullptr;
  HopReport& hop = report_.hops.emplace_back();
  hop.switch_id = r.switch_id;
  hop.port = r.port;
  hop.queue = r.queue;
  return &hop;
}

void HopTracker::on_probe(std::uint32_t flow, std::uint32_t sequence, std::uint64_t latency_ns,
                          const hop_trace::Trace& trace) noexcept {
  ++report_.probes;
  std::uint64_t sojourns_ns = 0;
  for (std::size_t i = 0; i < trace.records_kept; ++i) {
    const auto& record = trace.records[i];
    sojourns_ns += record.sojourn_ns;
    HopReport* hop = at(record);
    if (hop == nullptr) {
      ++report_.elsewhere;
      continue;
    }
    ++hop->probes;
    hop->sojourn_ns.record(record.sojourn_ns);
    hop->max_left_packets = std::max(hop->max_left_packets, record.left_packets);
    hop->max_left_bytes = std::max(hop->max_left_bytes, record.left_bytes);
  }
  // If clocks differ, the latency may be less than the sum of the sojourns.
  if (trace.complete()) report_.rest_ns.record(latency_ns - std::min(latency_ns, sojourns_ns));
  else ++report_.incomplete;
  if (samples_.size() < max_samples_) samples_.push_back({flow, sequence, latency_ns, trace});
}

std::string HopTracker::csv_lines(const std::string& name) const {
  std::string text;
  for (const Sample& s : samples_)
    for (std::size_t i = 0; i < s.trace.records_kept; ++i) {
      const auto& r = s.trace.records[i];
      text += name;
      for (const std::uint64_t v :
           {std::uint64_t{s.flow}, std::uint64_t{s.sequence}, s.latency_ns, std::uint64_t{i},
            std::uint64_t{r.switch_id}, std::uint64_t{r.port}, std::uint64_t{r.queue},
            std::uint64_t{r.sojourn_ns}, std::uint64_t{r.left_packets},
            std::uint64_t{r.left_bytes}})
        text += ',' + std::to_string(v);
      text += '\n';
    }
  return text;
}

}  // namespace outrider::tg
