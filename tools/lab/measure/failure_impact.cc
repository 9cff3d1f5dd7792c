#include "tools/lab/measure/failure_impact.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {
namespace {

/// The BMWG draft's orientation for the ratio of a job's completion times.
constexpr double kRecovered = 1.05;

/// An iteration, from its earliest begin to its latest end.
struct Span {
  std::int64_t end_ns = 0;
  std::int64_t took_ns = 0;  ///< of the slowest worker
};

using Spans = std::map<std::pair<std::uint16_t, std::uint32_t>, Span>;  // by job and iteration

Spans spans_of(const CaseRun& run) {
  Spans spans;
  for (const auto& r : run.result.traffic.iterations) {
    if (r.begin_ns == tg::kNotYet_ns || r.end_ns == tg::kNotYet_ns) continue;
    if (r.iteration < run.definition->skip_iterations) continue;
    Span& span = spans[{r.job, r.iteration}];
    span.end_ns = std::max(span.end_ns, r.end_ns);
    span.took_ns = std::max(span.took_ns, r.end_ns - r.begin_ns);
  }
  return spans;
}

void add_job(const std::vector<Span>& job, std::int64_t failed_ns, FailureImpact& impact) {
  std::vector<double> steady;
  for (const Span& span : job)
    if (span.end_ns <= failed_ns) steady.push_back(static_cast<double>(span.took_ns));
  if (steady.empty() || steady.size() == job.size()) return;
  const double p99 = quantile(steady, 0.99), middle = median(std::move(steady));
  const auto is_after = [&](const Span& span) { return span.end_ns > failed_ns; };
  const auto slow = [&](const Span& span) {
    return static_cast<double>(span.took_ns) > kRecovered * middle;
  };
  const auto longest =
      std::ranges::max_element(std::ranges::find_if(job, is_after), job.end(), {}, &Span::took_ns);
  impact.over_steady_median.push_back(static_cast<double>(longest->took_ns) / middle);
  impact.over_steady_p99.push_back(static_cast<double>(longest->took_ns) / p99);
  const auto back = std::find_if_not(longest, job.end(), slow);
  if (back == longest) impact.recovery_seconds.push_back(0);
  else if (back != job.end())
    impact.recovery_seconds.push_back(static_cast<double>(std::prev(back)->end_ns - failed_ns) *
                                      1e-9);
}

}  // namespace

FailureImpact failure_impact(const CaseRun& run) {
  FailureImpact impact;
  if (run.definition->changes.empty()) return impact;
  const std::int64_t failed_ns = run.definition->changes.front().at.time_since_epoch().count();
  std::map<std::uint16_t, std::vector<Span>> jobs;
  for (const auto& [key, span] : spans_of(run)) jobs[key.first].push_back(span);
  for (const auto& [job, spans] : jobs) add_job(spans, failed_ns, impact);
  return impact;
}

}  // namespace outrider::lab
