#include "tools/lab/measure/metrics_learning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tools/lab/measure/metrics_series.h"

namespace outrider::lab {
namespace {

/// The pushes of one job, and the time in which all its workers are working.
struct Updates {
  struct Worker {
    std::int64_t first_ns = tg::kNotYet_ns;  ///< first measured push
    std::int64_t last_ns = tg::kNotYet_ns;
    double wait_sum_seconds = 0;
    std::uint64_t waits = 0;
  };
  std::map<std::uint16_t, Worker> workers{};
  std::vector<std::int64_t> at_ns{};
  double staleness_sum = 0;
};

void add(Updates& job, const tg::IterationRecord& r) {
  Updates::Worker& worker = job.workers[r.worker];
  if (worker.first_ns == tg::kNotYet_ns) worker.first_ns = r.pushed_ns;
  worker.first_ns = std::min(worker.first_ns, r.pushed_ns);
  worker.last_ns = std::max(worker.last_ns, r.pushed_ns);
  job.at_ns.push_back(r.pushed_ns);
  job.staleness_sum += r.staleness;
}

void take_gaps(Updates& job, std::vector<double>& gaps_seconds) {
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  for (const auto& [index, worker] : job.workers) {
    from = std::max(from, worker.first_ns);
    to = std::min(to, worker.last_ns);
  }
  std::erase_if(job.at_ns, [&](std::int64_t at) { return at < from || at > to; });
  std::ranges::sort(job.at_ns);
  for (std::size_t i = 1; i < job.at_ns.size(); ++i)
    gaps_seconds.push_back(to_seconds(job.at_ns[i] - job.at_ns[i - 1]));
}

double variation_of(const std::vector<double>& values) {
  const double center = mean(values);
  if (values.empty() || center <= 0) return kNotDefined;
  double squares = 0;
  for (const double v : values) squares += (v - center) * (v - center);
  return std::sqrt(squares / static_cast<double>(values.size())) / center;
}

/// Returns the difference of the workers' mean waits; NaN if a worker never waited for others, as
/// in a ring.
double wait_spread_of(const Updates& job) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& [index, worker] : job.workers) {
    if (worker.waits == 0) return kNotDefined;
    const double own = worker.wait_sum_seconds / static_cast<double>(worker.waits);
    least = std::min(least, own);
    most = std::max(most, own);
  }
  return most - least;
}

/// Returns the larger value, ignoring one that is NaN.
double larger(double a, double b) { return std::isnan(a) || b > a ? b : a; }

void summarise_updates(std::map<std::uint16_t, Updates>& jobs, LearningMetrics& m) {
  double staleness_sum = 0;
  std::size_t pushes = 0;
  for (auto& [index, job] : jobs) {
    staleness_sum += job.staleness_sum;
    pushes += job.at_ns.size();
    m.wait_spread_seconds = larger(m.wait_spread_seconds, wait_spread_of(job));
    take_gaps(job, m.update_gap_seconds);
  }
  if (pushes > 0) m.staleness_mean = staleness_sum / static_cast<double>(pushes);
  m.update_gap_variation = variation_of(m.update_gap_seconds);
}

void summarise_learners(const tg::GeneratorReport& traffic, LearningMetrics& m) {
  bool all_there = !traffic.learners.empty();
  double slowest_seconds = 0, values = 0, magnitude = 0, zeroed_magnitude = 0;
  for (const tg::LearnerReport& l : traffic.learners) {
    m.learns = true;
    m.zeroed_values += l.zeroed_values;
    m.kept_values += l.kept_values;
    values += static_cast<double>(l.gradients) * static_cast<double>(l.parameters);
    magnitude += l.magnitude;
    zeroed_magnitude += l.zeroed_magnitude;
    m.diverged += l.diverged_ns != tg::kNotYet_ns ? 1 : 0;
    m.last_loss = larger(m.last_loss, l.last_loss);
    m.least_loss = larger(m.least_loss, l.least_loss);
    const auto job = std::ranges::find(traffic.jobs, l.job, &tg::JobReport::job);
    all_there &= l.target_ns != tg::kNotYet_ns && job != traffic.jobs.end();
    if (!all_there) continue;
    const double took = to_seconds(l.target_ns - job->begin_ns);
    if (took < slowest_seconds) continue;
    slowest_seconds = took;
    m.gradients_to_loss = static_cast<double>(l.target_gradients);
  }
  if (values > 0) m.zeroed_share = static_cast<double>(m.zeroed_values) / values;
  if (magnitude > 0) m.zeroed_magnitude_share = zeroed_magnitude / magnitude;
  if (all_there) m.time_to_loss_seconds = slowest_seconds;
  else m.gradients_to_loss = kNotDefined;
}

}  // namespace

LearningMetrics measure_learning(
    const Case& definition, const tg::GeneratorReport& traffic,
    const std::set<std::pair<std::uint16_t, std::uint32_t>>& excluded) {
  LearningMetrics m;
  std::map<std::uint16_t, Updates> jobs;
  for (const tg::IterationRecord& r : traffic.iterations) {
    if (r.iteration < definition.skip_iterations) continue;
    if (r.pushed_ns != tg::kNotYet_ns) add(jobs[r.job], r);
    m.staleness_max = std::max(m.staleness_max, r.staleness);
    if (excluded.contains({r.job, r.iteration})) continue;
    if (r.begin_ns != tg::kNotYet_ns && r.end_ns != tg::kNotYet_ns)
      m.worker_iteration_seconds.add(r.job, to_seconds(r.end_ns - r.begin_ns));
    if (r.pushed_ns == tg::kNotYet_ns || r.cleared_ns == tg::kNotYet_ns) continue;
    const double waited = to_seconds(r.cleared_ns - r.pushed_ns);
    m.wait_seconds.add(r.job, waited);
    Updates::Worker& worker = jobs[r.job].workers[r.worker];
    worker.wait_sum_seconds += waited;
    ++worker.waits;
  }
  summarise_updates(jobs, m);
  summarise_learners(traffic, m);
  return m;
}

}  // namespace outrider::lab
