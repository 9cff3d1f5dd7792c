#include "tools/lab/measure/flow_times.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

namespace {

std::size_t size_of(const tg::FlowClassReport& flows) {
  if (flows.up_to_bytes <= kSmallFlow_bytes) return static_cast<std::size_t>(FlowSize::kSmall);
  return static_cast<std::size_t>(flows.up_to_bytes <= kMediumFlow_bytes ? FlowSize::kMedium
                                                                         : FlowSize::kLarge);
}

}  // namespace

FilledBuckets::FilledBuckets(const Histogram& histogram) : count_(histogram.count()) {
  histogram.for_each_bucket(
      [this](std::size_t index, std::uint64_t count) { counts_.emplace_back(index, count); });
  if (count_ == 0) return;
  min_ = histogram.min();
  max_ = histogram.max();
}

double quantile_of(std::span<const FilledBuckets* const> parts, double q) {
  std::vector<std::uint64_t> sums(Histogram::kBuckets);
  std::uint64_t count = 0, min = std::numeric_limits<std::uint64_t>::max(), max = 0;
  for (const FilledBuckets* part : parts) {
    if (part->count_ == 0) continue;
    for (const auto& [index, n] : part->counts_) sums[index] += n;
    count += part->count_;
    min = std::min(min, part->min_);
    max = std::max(max, part->max_);
  }
  if (count == 0) return kNotDefined;
  const auto rank = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count))), 1, count);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    seen += sums[i];
    if (seen >= rank) return static_cast<double>(std::clamp(Histogram::middle_of(i), min, max));
  }
  return static_cast<double>(max);
}

FlowTimes flow_times(const tg::GeneratorReport& traffic) {
  FlowTimes out;
  if (traffic.flow_groups.empty()) return out;
  std::array<Histogram, kFlowSizes> completion, slowdown;
  for (const auto& group : traffic.flow_groups) {
    out.arrivals += group.arrivals;
    out.unfinished += group.failed + group.open;
    out.not_offered += group.refused;
    out.after_end += group.after_end;
    for (const auto& flows : group.classes) {
      completion[size_of(flows)].merge(flows.completion_ns);
      slowdown[size_of(flows)].merge(flows.slowdown_milli);
    }
  }
  for (std::size_t i = 0; i < kFlowSizes; ++i) {
    out.completion_ns[i] = FilledBuckets(completion[i]);
    out.slowdown_milli[i] = FilledBuckets(slowdown[i]);
  }
  return out;
}

RequestTimes request_times(const tg::GeneratorReport& traffic) {
  RequestTimes out;
  if (traffic.requests.empty()) return out;
  Histogram latency_ns;
  for (const auto& pair : traffic.requests) {
    ++out.pairs;
    out.broken += pair.closed;
    latency_ns.merge(pair.latency_ns);
  }
  out.latency_ns = FilledBuckets(latency_ns);
  return out;
}

CaptureTotals capture_totals(const tg::GeneratorReport& traffic) {
  CaptureTotals out;
  for (const auto& capture : traffic.captures) {
    out.sent += capture.sent;
    out.received += capture.received;
  }
  return out;
}

}  // namespace outrider::lab
