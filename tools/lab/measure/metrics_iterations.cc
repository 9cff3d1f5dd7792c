#include "tools/lab/measure/metrics_iterations.h"

#include <algorithm>

#include "common/core/poll_gaps.h"

namespace outrider::lab {

std::int64_t earlier(std::int64_t a, std::int64_t b) noexcept {
  if (a == tg::kNotYet_ns) return b;
  return b == tg::kNotYet_ns ? a : std::min(a, b);
}

namespace {

/// Derives the times of an iteration from its bursts. @pre the bursts are set
void derive(IterationBursts& it, std::size_t workers) {
  it.complete = it.bursts.size() == workers;
  for (const tg::BurstRecord* b : it.bursts) {
    it.due_ns = earlier(it.due_ns, b->due_ns);
    it.announced_ns = earlier(it.announced_ns, earlier(b->due_ns, b->start_sent_ns));
    if (b->delivered_ns == tg::kNotYet_ns || b->first_sent_ns == tg::kNotYet_ns) {
      it.complete = false;
      continue;
    }
    it.delivered_ns = std::max(it.delivered_ns, b->delivered_ns);
    it.completion_ns = std::max(it.completion_ns, b->delivered_ns - b->first_sent_ns);
  }
}

/// Returns whether a gap longer than `tolerated_ns` overlaps [from, to].
bool any_gap(const std::vector<PollGap>& gaps, std::int64_t offset_ns, std::int64_t tolerated_ns,
             std::int64_t from, std::int64_t to) {
  return std::ranges::any_of(gaps, [&](const PollGap& gap) {
    const std::int64_t begin = gap.at_ns - offset_ns;
    return gap.length_ns > tolerated_ns && begin <= to && begin + gap.length_ns >= from;
  });
}

}  // namespace

void flag_disturbed(std::vector<IterationBursts>& iterations, const RunResult& result,
                    std::int64_t offset_ns, Duration tolerated) {
  const std::int64_t over = tolerated.count();
  const bool all = std::max(complete_above_ns(result.switches.poll_gaps),
                            complete_above_ns(result.traffic.poll_gaps)) > over;
  for (auto& it : iterations) {
    const std::int64_t to = it.complete ? it.delivered_ns : result.traffic.end_ns;
    it.flagged = all || any_gap(result.traffic.poll_gaps, 0, over, it.announced_ns, to) ||
                 any_gap(result.switches.poll_gaps, offset_ns, over, it.announced_ns, to);
  }
}

std::size_t workers_of(const Case& definition, std::uint16_t job, std::size_t seen) {
  return job < definition.traffic.jobs.size() ? definition.traffic.jobs[job].workers.size() : seen;
}

std::vector<IterationBursts> iterations_of(const Case& definition,
                                           const tg::GeneratorReport& report,
                                           BurstDirection direction) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, IterationBursts> by_key;
  for (const auto& burst : report.bursts) {
    if (burst.identity.direction != direction ||
        burst.identity.iteration < definition.skip_iterations)
      continue;
    auto& it = by_key[{burst.identity.job, burst.identity.iteration}];
    it.job = burst.identity.job;
    it.iteration = burst.identity.iteration;
    it.bursts.push_back(&burst);
  }
  std::vector<IterationBursts> iterations;
  iterations.reserve(by_key.size());
  for (auto& [key, it] : by_key) {
    std::ranges::sort(it.bursts, {}, [](const tg::BurstRecord* b) { return b->identity.worker; });
    derive(it, workers_of(definition, it.job, it.bursts.size()));
    iterations.push_back(std::move(it));
  }
  return iterations;
}

std::pair<std::int64_t, std::int64_t> measured_span_ns(const Case& definition,
                                                       const tg::GeneratorReport& report) {
  std::int64_t from = tg::kNotYet_ns;
  for (const auto& it : iterations_of(definition, report, BurstDirection::kPush))
    from = earlier(from, it.announced_ns);
  return {std::max<std::int64_t>(from, 0), report.end_ns};
}

}  // namespace outrider::lab
