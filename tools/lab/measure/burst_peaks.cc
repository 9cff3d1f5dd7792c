#include "tools/lab/measure/burst_peaks.h"

#include <algorithm>

#include "tools/lab/measure/metrics.h"
#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {

namespace {

/// The time of the measured iterations [ns]; empty without two that are due at different times.
struct DueSpan {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

DueSpan due_span(const std::vector<IterationBursts>& pushes) {
  DueSpan span;
  bool any = false;
  for (const auto& it : pushes) {
    if (it.due_ns == tg::kNotYet_ns) continue;
    span.from = any ? std::min(span.from, it.due_ns) : it.due_ns;
    span.to = any ? std::max(span.to, it.due_ns) : it.due_ns;
    any = true;
  }
  return span;
}

/// Returns the sum of the fullest window over the mean of all that lie in the span.
double peak_to_mean(const RunningTotal& bytes, const DueSpan& span, std::int64_t window_ns) {
  const std::int64_t count = (span.to - span.from) / window_ns;
  if (count < 2) return kNotDefined;
  double most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = span.from + i * window_ns;
    most = std::max(most, bytes.between(at, at + window_ns));
  }
  const double all = bytes.between(span.from, span.from + count * window_ns);
  return all > 0 ? most * static_cast<double>(count) / all : kNotDefined;
}

double link_share(const RunningTotal& bytes, const DueSpan& span, std::uint64_t bits_per_second) {
  const double possible =
      to_seconds(span.to - span.from) * static_cast<double>(bits_per_second) / 8;  // [bytes]
  return possible > 0 ? bytes.between(span.from, span.to) / possible : kNotDefined;
}

}  // namespace

BurstPeaks burst_peaks(const Case& definition, const RunResult& result) {
  constexpr std::int64_t kMs = 1'000'000;  // [ns]
  const sw::QueueReport* queue = find_queue(result.switches, definition.measured_queue);
  const std::int64_t bin_ns = result.switches.bin_ns;
  if (queue == nullptr || bin_ns <= 0) return {};
  const RunningTotal bytes(queue->bins, bin_ns,
                           [](const sw::QueueBin& b) { return b.bytes[TrafficClass::kDdl]; });
  const DueSpan span = due_span(iterations_of(definition, result.traffic, BurstDirection::kPush));
  if (static_cast<std::int64_t>(queue->bins.size()) * bin_ns < span.to) return {};
  const auto over = [&](std::int64_t window_ns) {
    return bin_ns > window_ns ? kNotDefined : peak_to_mean(bytes, span, window_ns);
  };
  return {.link_share = link_share(bytes, span, queue->drain_bits_per_second),
          .over_1ms = over(kMs),
          .over_10ms = over(10 * kMs),
          .over_100ms = over(100 * kMs)};
}

}  // namespace outrider::lab
