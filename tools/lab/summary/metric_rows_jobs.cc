#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/lab/simulation/job_iterations.h"
#include "tools/lab/summary/metric_rows.h"

// Metrics that only some cases have: learning, attribution, several jobs.

namespace outrider::lab {

namespace job_rows {

using enum Aggregate;
using enum Unit;

/// The share of a part in the communication time of all pushes with attribution.
template <BurstTime kPart>
constexpr RatioOfSums time_share{
    [](const CaseSummary& c) {
      return c.metrics.attribution.seconds_sum[static_cast<std::size_t>(kPart)];
    },
    [](const CaseSummary& c) {
      const auto& sums = c.metrics.attribution.seconds_sum;
      return std::accumulate(sums.begin(), sums.end(), 0.0);
    }};

std::vector<double> completions(const CaseSummary& c) {
  std::vector<double> values;
  for (const auto& job : c.metrics.jobs.each) values.push_back(job.completion_seconds);
  return values;
}

/// Returns the mean completion time of the jobs; NaN if a job did not end.
double mean_completion(const CaseSummary& c) { return mean(completions(c)); }

double completion_range(const CaseSummary& c) {
  const auto values = completions(c);
  if (std::isnan(mean(values))) return kNotDefined;
  return std::ranges::max(values) - std::ranges::min(values);
}

/// Reads one of the jobs' figures, as the mean of the jobs.
template <double JobMetrics::*kFigure>
constexpr PerRun mean_of_jobs{[](const CaseSummary& c) {
  std::vector<double> values;
  for (const auto& job : c.metrics.jobs.each) values.push_back(job.*kFigure);
  return mean(values);
}};

/// Returns the median iteration of each job of a run over that of the job alone.
std::vector<double> interference_factors(const CaseRun& run) {
  std::vector<double> factors;
  for (std::size_t j = 0; j < run.jobs_alone.size(); ++j) {
    const double factor = median(iteration_seconds_of(*run.definition, run.result.traffic,
                                                      static_cast<std::uint16_t>(j))) /
                          median(run.jobs_alone[j]);
    if (!std::isnan(factor)) factors.push_back(factor);
  }
  return factors;
}

bool learns(const CaseMetrics& m) { return m.learning.learns; }
bool attributed(const CaseMetrics& m) { return m.attribution.bursts != 0; }
bool several_jobs(const CaseMetrics& m) { return !m.jobs.each.empty(); }

constexpr Metric kRows[] = {
    {.name = "time_to_loss_seconds",
     .unit = kSeconds,
     .help = "the job's begin to the first loss at or below the target, the slowest job",
     .source = learning<&LearningMetrics::time_to_loss_seconds>,
     .column = {"to loss", "s", 1},
     .there = learns},
    {.name = "gradients_to_loss",
     .unit = kNumber,
     .help = "workers' gradients that were applied by then",
     .source = learning<&LearningMetrics::gradients_to_loss>,
     .column = {"gradients", "to loss"},
     .there = learns},
    {.name = "last_loss",
     .unit = kNumber,
     .help = "loss over the whole data set at the end [nats], the largest of the jobs",
     .source = learning<&LearningMetrics::last_loss>,
     .column = {"last loss", "nats"},
     .there = learns},
    {.name = "jobs_diverged",
     .unit = kNumber,
     .help = "jobs whose loss was no number",
     .aggregate = Aggregate::kSum,
     .source = PerRun{[](const CaseSummary& c) {
       return static_cast<double>(c.metrics.learning.diverged);
     }},
     .column = {"diverged", "jobs"},
     .there = learns},
    {.name = "zeroed_share",
     .unit = kShare,
     .help = "values of gradients that were not delivered, of all",
     .source = learning<&LearningMetrics::zeroed_share>,
     .change = false,
     .column = {"lost", "values"},
     .there = learns},
    {.name = "zeroed_magnitude_share",
     .unit = kShare,
     .help = "sum of the magnitudes of gradients that were not delivered, of all",
     .source = learning<&LearningMetrics::zeroed_magnitude_share>,
     .change = false,
     .column = {"lost", "magnitude"},
     .there = learns},
    {.name = "time_signal_share",
     .unit = kShare,
     .help = "communication time of pushes: START to its acknowledgment, the lead, and waits while "
             "signals were served",
     .source = time_share<BurstTime::kSignal>,
     .change = false,
     .column = {"signal"},
     .there = attributed},
    {.name = "time_opening_share",
     .unit = kShare,
     .help = "communication time of pushes: the connection's handshake",
     .source = time_share<BurstTime::kOpening>,
     .change = false,
     .column = {"opening"},
     .there = attributed},
    {.name = "time_serialisation_share",
     .unit = kShare,
     .help = "communication time of pushes: frames on wires, and propagation",
     .source = time_share<BurstTime::kSerialisation>,
     .change = false,
     .column = {"wire"},
     .there = attributed},
    {.name = "time_behind_background_share",
     .unit = kShare,
     .help = "communication time of pushes: waits while background was served",
     .source = time_share<BurstTime::kBehindBackground>,
     .change = false,
     .column = {"behind", "background"},
     .there = attributed},
    {.name = "time_behind_ddl_share",
     .unit = kShare,
     .help = "communication time of pushes: waits while other workers' packets were served",
     .source = time_share<BurstTime::kBehindDdl>,
     .change = false,
     .column = {"behind", "other DDL"},
     .there = attributed},
    {.name = "time_window_share",
     .unit = kShare,
     .help = "communication time of pushes: acknowledgments on their way",
     .source = time_share<BurstTime::kWindow>,
     .change = false,
     .column = {"window"},
     .there = attributed},
    {.name = "time_recovery_share",
     .unit = kShare,
     .help = "communication time of pushes: loss of a segment to its resending without a time-out",
     .source = time_share<BurstTime::kRecovery>,
     .change = false,
     .column = {"recovery"},
     .there = attributed},
    {.name = "time_rto_share",
     .unit = kShare,
     .help = "communication time of pushes: loss of a segment to its resending after a time-out",
     .source = time_share<BurstTime::kRto>,
     .change = false,
     .column = {"RTO"},
     .there = attributed},
    {.name = "time_compute_share",
     .unit = kShare,
     .help = "communication time of pushes: gradients that were not ready",
     .source = time_share<BurstTime::kCompute>,
     .change = false,
     .column = {"compute"},
     .there = attributed},
    {.name = "time_others_share",
     .unit = kShare,
     .help = "communication time of pushes: participants that had not delivered what is passed on",
     .source = time_share<BurstTime::kOthers>,
     .change = false,
     .column = {"others"},
     .there = attributed},
    {.name = "time_held_share",
     .unit = kShare,
     .help = "communication time of pushes: held back while the wire was free",
     .source = time_share<BurstTime::kHeld>,
     .change = false,
     .column = {"held"},
     .there = attributed},
    {.name = "job_completion_seconds",
     .unit = kSeconds,
     .help = "first begin to last end of the slowest job",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.job_completion_seconds; }},
     .column = {"job"}},
    {.name = "jobs_completion_seconds_mean",
     .unit = kSeconds,
     .help = "first begin to last end of a job, mean of the jobs",
     .source = PerRun{mean_completion},
     .column = {"completion", "s", 1},
     .there = several_jobs},
    {.name = "jobs_completion_seconds_range",
     .unit = kSeconds,
     .help = "completion of the last job minus that of the first",
     .source = PerRun{completion_range},
     .column = {"last-first", "job, s", 1},
     .there = several_jobs},
    {.name = "jobs_iteration_seconds_mean",
     .unit = kSeconds,
     .help = "median iteration of the slowest worker of each job, mean of the jobs",
     .source = mean_of_jobs<&JobMetrics::iteration_seconds_median>,
     .column = {"iteration", "jobs, ms"},
     .there = several_jobs},
    {.name = "jobs_iteration_seconds_p99_mean",
     .unit = kSeconds,
     .help = "p99 of the iterations of each job, mean of the jobs",
     .source = mean_of_jobs<&JobMetrics::iteration_seconds_p99>,
     .column = {"iter. p99", "jobs, ms"},
     .there = several_jobs},
    {.name = "jobs_communication_seconds_mean",
     .unit = kSeconds,
     .help = "median communication of each job, mean of the jobs",
     .source = mean_of_jobs<&JobMetrics::communication_seconds_median>,
     .column = {"commun.", "jobs, ms"},
     .there = several_jobs},
    {.name = "jobs_communication_seconds_p99_mean",
     .unit = kSeconds,
     .help = "p99 of the communication of each job, mean of the jobs",
     .source = mean_of_jobs<&JobMetrics::communication_seconds_p99>,
     .column = {"comm. p99", "jobs, ms"},
     .there = several_jobs},
    {.name = "interference_factor_mean",
     .unit = kNumber,
     .help = "median iteration of a job over that of the same job without the others and "
             "background, mean of the jobs; of two to eight jobs",
     .source = FromRun{&interference_factors},
     .column = {"interf."},
     .there = several_jobs},
    {.name = "interference_factor_most",
     .unit = kNumber,
     .help = "the same, the largest of the jobs and runs",
     .aggregate = kMost,
     .source = FromRun{&interference_factors},
     .column = {"interf.", "worst"},
     .there = several_jobs},
    {.name = "worker_spread_seconds_mean",
     .unit = kSeconds,
     .help = "last minus first worker of an iteration whose parameters are all there",
     .source =
         PerRun{[](const CaseSummary& c) { return mean(c.metrics.jobs.worker_spread_seconds); }},
     .column = {"workers", "ms apart"},
     .there = several_jobs},
    {.name = "server_nic_sending_share",
     .unit = kShare,
     .help = "time of the run in which payload of bursts leaves a server's NIC, mean of the "
             "servers' hosts",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.jobs.server_hosts.sending; }},
     .column = {"servers'", "% sending"},
     .there = several_jobs},
    {.name = "server_nic_receiving_share",
     .unit = kShare,
     .help = "time of the run in which payload of bursts comes to a server's NIC, mean of the "
             "servers' hosts",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.jobs.server_hosts.receiving; }},
     .column = {"NIC", "% recv."},
     .there = several_jobs},
};

}  // namespace job_rows

std::span<const Metric> rows_of_jobs() { return job_rows::kRows; }

}  // namespace outrider::lab
