#include "tools/lab/summary/metric_rows.h"

// Bursts and iterations, and the queue that they find.

namespace outrider::lab {

namespace burst_rows {

using enum Aggregate;
using enum Unit;

template <JobSamples LearningMetrics::*kValues>
constexpr PerJob learning_values{
    [](const CaseSummary& c) -> const JobSamples& { return c.metrics.learning.*kValues; }};

constexpr RatioOfSums kBurstSojourn{
    [](const CaseSummary& c) {
      const auto& s = c.metrics.burst_sojourn_seconds;
      return s.mean * static_cast<double>(s.count);
    },
    [](const CaseSummary& c) {
      return static_cast<double>(c.metrics.burst_sojourn_seconds.count);
    }};

constexpr Metric kRows[] = {
    {.name = "start_queue_packets_mean",
     .unit = kPackets,
     .help = "background that an iteration's first packet finds waiting in the measured queue",
     .aggregate = kMean,
     .source = all_samples<&Samples::start_queue_packets>,
     .tested = "start queue",
     .column = {"start queue"}},
    {.name = "max_queue_packets_mean",
     .unit = kPackets,
     .help = "largest occupancy of the measured queue while an iteration's bursts are in progress",
     .aggregate = kMean,
     .source = all_samples<&Samples::max_queue_packets>,
     .tested = "maximum queue",
     .column = {"max queue"}},
    {.name = "burst_completion_seconds_median",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::burst_completion_seconds>,
     .tested = "burst",
     .column = {"burst"}},
    {.name = "burst_completion_seconds_mean",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kMean,
     .source = samples_by_job<&Samples::burst_completion_seconds>,
     .column = {"burst mean"}},
    {.name = "burst_completion_seconds_p99",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kP99,
     .source = samples_by_job<&Samples::burst_completion_seconds>,
     .column = {"burst p99"}},
    {.name = "communication_seconds_median",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::communication_seconds>,
     .tested = "communication",
     .column = {"communic."}},
    {.name = "communication_seconds_mean",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kMean,
     .source = samples_by_job<&Samples::communication_seconds>,
     .column = {"comm. mean"}},
    {.name = "communication_seconds_p99",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kP99,
     .source = samples_by_job<&Samples::communication_seconds>,
     .tested = "communication p99",
     .column = {"comm. p99"}},
    {.name = "iteration_seconds_median",
     .unit = kSeconds,
     .help = "an iteration's begin until the parameters are there, the slowest worker",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::iteration_seconds>,
     .tested = "iteration",
     .column = {"iteration", "ms, median"}},
    {.name = "iteration_seconds_p99",
     .unit = kSeconds,
     .help = "an iteration's begin until the parameters are there, the slowest worker",
     .aggregate = kP99,
     .source = samples_by_job<&Samples::iteration_seconds>,
     .column = {"iter. p99"}},
    {.name = "worker_iteration_seconds_mean",
     .unit = kSeconds,
     .help = "the same of every worker by itself",
     .aggregate = kMean,
     .source = learning_values<&LearningMetrics::worker_iteration_seconds>,
     .column = {"iteration", "ms, worker"}},
    {.name = "wait_seconds_mean",
     .unit = kSeconds,
     .help = "delivery of a worker's own push until it waits for nobody any more",
     .aggregate = kMean,
     .source = learning_values<&LearningMetrics::wait_seconds>,
     .column = {"wait"}},
    {.name = "wait_spread_seconds",
     .unit = kSeconds,
     .help = "mean wait of the worker that waits most minus that of the worker that waits least",
     .source = learning<&LearningMetrics::wait_spread_seconds>,
     .column = {"wait spread"}},
    {.name = "update_gap_variation",
     .unit = kNumber,
     .help = "standard deviation of the gaps between updates over their mean",
     .source = learning<&LearningMetrics::update_gap_variation>,
     .column = {"update", "gaps"}},
    {.name = "staleness_mean",
     .unit = kNumber,
     .help = "updates by other workers between a worker's reading and its own update",
     .source = learning<&LearningMetrics::staleness_mean>,
     .change = false,
     .column = {"staleness", "updates"}},
    {.name = "first_layer_seconds_median",
     .unit = kSeconds,
     .help = "last gradient ready until the parameters of tensor 0 are there, the slowest worker",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::first_layer_seconds>,
     .column = {"first layer"}},
    {.name = "burst_link_share",
     .unit = kShare,
     .help =
         "frame bytes of bursts that leave the measured queue over what its port could send, from "
         "the first measured push's due time to the last one's",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.burst_peaks.link_share; }},
     .change = false,
     .column = {"link", "% bursts"}},
    {.name = "burst_peak_to_mean_1ms",
     .unit = kNumber,
     .help = "bytes of bursts that leave the measured queue in the fullest window of 1 ms, over "
             "those in the mean window",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.burst_peaks.over_1ms; }},
     .change = false,
     .column = {"peak / mean", "1 ms"}},
    {.name = "burst_peak_to_mean_10ms",
     .unit = kNumber,
     .help = "bytes of bursts that leave the measured queue in the fullest window of 10 ms, over "
             "those in the mean window",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.burst_peaks.over_10ms; }},
     .change = false,
     .column = {"peak / mean", "10 ms"}},
    {.name = "burst_peak_to_mean_100ms",
     .unit = kNumber,
     .help = "bytes of bursts that leave the measured queue in the fullest window of 100 ms, over "
             "those in the mean window",
     .source = PerRun{[](const CaseSummary& c) { return c.metrics.burst_peaks.over_100ms; }},
     .change = false,
     .column = {"peak / mean", "100 ms"}},
    {.name = "nic_send_idle_share_median",
     .unit = kShare,
     .help =
         "time of an iteration's communication in which the NIC sends nothing, mean of the workers",
     .aggregate = kMedian,
     .source = all_samples<&Samples::nic_send_idle_share>,
     .column = {"NIC idle", "% sending"}},
    {.name = "pull_completion_seconds_median",
     .unit = kSeconds,
     .help = "as burst completion, from server to worker",
     .aggregate = kMedian,
     .source = samples_by_job<&Samples::pull_completion_seconds>,
     .column = {"pull"}},
    {.name = "ddl_throughput_bits_per_second_mean",
     .unit = kBitsPerSecond,
     .help = "payload of a burst over its completion time",
     .aggregate = kMean,
     .source = all_samples<&Samples::burst_throughput_bits_per_second>,
     .column = {"DDL"}},
    {.name = "burst_sojourn_seconds_mean",
     .unit = kSeconds,
     .help = "time that packets of bursts spend in the measured queue",
     .source = kBurstSojourn,
     .column = {"sojourn"}},
    {.name = "background_goodput_bits_per_second",
     .unit = kBitsPerSecond,
     .help = "background payload delivered in order, first START or due time to the end of the run",
     .source =
         PerRun{[](const CaseSummary& c) { return c.metrics.background_goodput_bits_per_second; }},
     .tested = "background",
     .column = {"background"}}};

}  // namespace burst_rows

std::span<const Metric> rows_of_bursts() { return burst_rows::kRows; }

}  // namespace outrider::lab
