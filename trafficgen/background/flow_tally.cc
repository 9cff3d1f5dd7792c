#include "trafficgen/background/flow_tally.h"

#include <algorithm>
#include <utility>

namespace outrider::tg {

FlowTally::FlowTally(std::string name, BitRate offered, std::uint32_t records)
    : most_records_(records) {
  report_.name = std::move(name);
  report_.offered_bps = offered.bits_per_second;
  report_.records.reserve(records);
  ends_.reserve(records);
  std::uint64_t above = 0;
  for (const std::uint64_t end : kFlowClassEnds) {
    report_.classes.push_back({.above_bytes = above, .up_to_bytes = end});
    above = end;
  }
  report_.classes.push_back({.above_bytes = above, .up_to_bytes = UINT64_MAX});
}

FlowClassReport& FlowTally::class_of(const FlowArrival& a) noexcept {
  const auto end = std::ranges::lower_bound(kFlowClassEnds, a.bytes);
  return report_.classes[static_cast<std::size_t>(end - kFlowClassEnds.begin())];
}

void FlowTally::complete(const FlowArrival& a, std::int64_t took_ns) noexcept {
  class_of(a).completion_ns.record(static_cast<std::uint64_t>(took_ns));
  ++report_.completed;
  --in_progress_;
}

void FlowTally::slow_down(const FlowArrival& a, std::uint64_t slowdown_milli) noexcept {
  class_of(a).slowdown_milli.record(slowdown_milli);
}

void FlowTally::keep(const EndedFlow& flow) noexcept {
  if (most_records_ == 0) return;
  if (report_.records.size() == most_records_) {
    ++report_.records_lost;
    return;
  }
  // Names follow at the end: here nothing may allocate.
  report_.records.push_back({.bytes = flow.arrival.bytes,
                             .arrival_ns = flow.arrival.at.time_since_epoch().count(),
                             .established_ns = flow.established_ns,
                             .delivered_ns = flow.delivered_ns,
                             .slowdown_milli = flow.slowdown_milli,
                             .retransmitted = flow.retransmitted,
                             .rtos = flow.rtos});
  ends_.push_back({flow.arrival.from, flow.arrival.to});
}

FlowGroupReport FlowTally::report(const std::vector<std::string>& from,
                                  const std::vector<std::string>& to) const {
  FlowGroupReport r = report_;
  r.open = in_progress_;
  for (std::size_t i = 0; i < r.records.size(); ++i) {
    r.records[i].from = from[ends_[i].from];
    r.records[i].to = to[ends_[i].to];
  }
  return r;
}

}  // namespace outrider::tg
