#include <algorithm>

#include "tools/lab/summary/metric_rows.h"

// Bursts and iterations, and the queue that they find.

namespace outrider::lab {

namespace burst_rows {

using enum Aggregate;
using enum Unit;

template <std::vector<double> Samples::*kValues>
constexpr Pooled samples{
    [](const CaseSummary& c) -> const std::vector<double>& { return c.metrics.samples.*kValues; }};

template <JobSamples Samples::*kValues>
constexpr PerJob times{
    [](const CaseSummary& c) -> const JobSamples& { return c.metrics.samples.*kValues; }};

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

constexpr RatioOfSums kRtosPerBurst{
    [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_rtos); },
    [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_bursts); }};

constexpr Relative kOverAlone{times<&Samples::communication_seconds>.values,
                              [](const CaseSummary& c) -> const JobSamples& {
                                return c.network_alone.communication_seconds;
                              }};

constexpr Relative kIterationOverAlone{
    times<&Samples::iteration_seconds>.values,
    [](const CaseSummary& c) -> const JobSamples& { return c.network_alone.iteration_seconds; }};

constexpr Relative kTailOverAlone{kOverAlone.values, kOverAlone.reference, Aggregate::kMedian};

constexpr RatioOfSums kAloneRtosPerBurst{
    [](const CaseSummary& c) { return static_cast<double>(c.alone.push_rtos); },
    [](const CaseSummary& c) { return static_cast<double>(c.alone.push_bursts); }};

/// Returns a count of a run over its push bursts; nothing if it has none.
std::vector<double> per_push_burst(const CaseRun& run, std::uint64_t count) {
  const auto bursts = std::ranges::count_if(run.result.traffic.bursts, [](const auto& burst) {
    return burst.identity.direction == BurstDirection::kPush;
  });
  if (bursts == 0) return {};
  return {static_cast<double>(count) / static_cast<double>(bursts)};
}

/// A switch counts drops by class, not by burst: packets of pulls and of connections that open are
/// among them.
std::vector<double> packets_dropped_per_burst(const CaseRun& run) {
  return per_push_burst(run, sum(run.result.switches.drops[TrafficClass::kDdl]));
}

bool over_roce(const CaseMetrics& m) { return m.roce.sent != 0; }

/// Queue pairs count over the whole run: packets of pulls are among them.
template <std::uint64_t tg::RoceCounters::*kCount>
std::vector<double> roce_packets_per_burst(const CaseRun& run) {
  if (run.result.traffic.roce.sent == 0) return {};
  return per_push_burst(run, run.result.traffic.roce.*kCount);
}

std::vector<double> roce_queue_pairs(const CaseRun& run) {
  if (run.result.traffic.roce.sent == 0) return {};
  return {static_cast<double>(run.result.traffic.roce.queue_pairs)};
}

bool over_lossless(const CaseMetrics& m) { return m.lossless; }

std::vector<double> pauses_per_burst(const CaseRun& run) {
  std::uint64_t pauses = 0;
  for (const auto& queue : run.result.switches.queues) pauses += queue.pause.pauses_sent;
  return per_push_burst(run, pauses);
}

std::vector<double> paused_seconds_per_burst(const CaseRun& run) {
  auto time = per_push_burst(run, run.result.traffic.paused_ns);
  for (double& ns : time) ns *= 1e-9;
  return time;
}

constexpr Metric kRows[] = {
    {.name = "start_queue_packets_mean",
     .unit = kPackets,
     .help = "background that an iteration's first packet finds waiting in the measured queue",
     .aggregate = kMean,
     .source = samples<&Samples::start_queue_packets>,
     .place = "/start_queue_packets/mean",
     .tested = "start queue",
     .column = {"start queue"}},
    {.name = "max_queue_packets_mean",
     .unit = kPackets,
     .help = "largest occupancy of the measured queue while an iteration's bursts are in progress",
     .aggregate = kMean,
     .source = samples<&Samples::max_queue_packets>,
     .place = "/max_queue_packets/mean",
     .tested = "maximum queue",
     .column = {"max queue"}},
    {.name = "burst_completion_seconds_median",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kMedian,
     .source = times<&Samples::burst_completion_seconds>,
     .place = "/burst_completion_seconds/median",
     .tested = "burst",
     .column = {"burst"}},
    {.name = "burst_completion_seconds_mean",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kMean,
     .source = times<&Samples::burst_completion_seconds>,
     .place = "/burst_completion_seconds/mean",
     .column = {"burst mean"}},
    {.name = "burst_completion_seconds_p99",
     .unit = kSeconds,
     .help = "first byte sent to last byte delivered, the slowest worker of an iteration",
     .aggregate = kP99,
     .source = times<&Samples::burst_completion_seconds>,
     .place = "/burst_completion_seconds/p99",
     .column = {"burst p99"}},
    {.name = "communication_seconds_median",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kMedian,
     .source = times<&Samples::communication_seconds>,
     .place = "/communication_seconds/median",
     .tested = "communication",
     .column = {"communic."}},
    {.name = "communication_seconds_mean",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kMean,
     .source = times<&Samples::communication_seconds>,
     .place = "/communication_seconds/mean",
     .column = {"comm. mean"}},
    {.name = "communication_seconds_p99",
     .unit = kSeconds,
     .help = "earliest gradients ready to latest delivery of an iteration",
     .aggregate = kP99,
     .source = times<&Samples::communication_seconds>,
     .place = "/communication_seconds/p99",
     .tested = "communication p99",
     .column = {"comm. p99"}},
    {.name = "iteration_seconds_median",
     .unit = kSeconds,
     .help = "an iteration's begin until the parameters are there, the slowest worker",
     .aggregate = kMedian,
     .source = times<&Samples::iteration_seconds>,
     .place = "/iteration_seconds/median",
     .tested = "iteration",
     .column = {"iteration", "ms, median"}},
    {.name = "iteration_seconds_p99",
     .unit = kSeconds,
     .help = "an iteration's begin until the parameters are there, the slowest worker",
     .aggregate = kP99,
     .source = times<&Samples::iteration_seconds>,
     .place = "/iteration_seconds/p99",
     .column = {"iter. p99"}},
    {.name = "worker_iteration_seconds_mean",
     .unit = kSeconds,
     .help = "the same of every worker by itself",
     .aggregate = kMean,
     .source = learning_values<&LearningMetrics::worker_iteration_seconds>,
     .place = "/worker_iteration_seconds/mean",
     .column = {"iteration", "ms, worker"}},
    {.name = "wait_seconds_mean",
     .unit = kSeconds,
     .help = "delivery of a worker's own push until it waits for nobody any more",
     .aggregate = kMean,
     .source = learning_values<&LearningMetrics::wait_seconds>,
     .place = "/wait_seconds/mean",
     .column = {"wait"}},
    {.name = "wait_spread_seconds",
     .unit = kSeconds,
     .help = "mean wait of the worker that waits most minus that of the worker that waits least",
     .source = learning<&LearningMetrics::wait_spread_seconds>,
     .place = "/updates/wait_spread_seconds",
     .column = {"wait spread"}},
    {.name = "update_gap_variation",
     .unit = kNumber,
     .help = "standard deviation of the gaps between updates over their mean",
     .source = learning<&LearningMetrics::update_gap_variation>,
     .place = "/updates/gap_variation",
     .column = {"update", "gaps"}},
    {.name = "staleness_mean",
     .unit = kNumber,
     .help = "updates by other workers between a worker's reading and its own update",
     .source = learning<&LearningMetrics::staleness_mean>,
     .change = false,
     .place = "/updates/staleness_mean",
     .column = {"staleness", "updates"}},
    {.name = "first_layer_seconds_median",
     .unit = kSeconds,
     .help = "last gradient ready until the parameters of tensor 0 are there, the slowest worker",
     .aggregate = kMedian,
     .source = times<&Samples::first_layer_seconds>,
     .place = "/first_layer_seconds/median",
     .column = {"first layer"}},
    {.name = "nic_send_idle_share_median",
     .unit = kShare,
     .help =
         "time of an iteration's communication in which the NIC sends nothing, mean of the workers",
     .aggregate = kMedian,
     .source = samples<&Samples::nic_send_idle_share>,
     .place = "/nic_send_idle_share/median",
     .column = {"NIC idle", "% sending"}},
    {.name = "pull_completion_seconds_median",
     .unit = kSeconds,
     .help = "as burst completion, from server to worker",
     .aggregate = kMedian,
     .source = times<&Samples::pull_completion_seconds>,
     .place = "/pull_completion_seconds/median",
     .column = {"pull"}},
    {.name = "ddl_throughput_bits_per_second_mean",
     .unit = kBitsPerSecond,
     .help = "payload of a burst over its completion time",
     .aggregate = kMean,
     .source = samples<&Samples::burst_throughput_bits_per_second>,
     .place = "/ddl_throughput_bits_per_second/mean",
     .column = {"DDL"}},
    {.name = "burst_sojourn_seconds_mean",
     .unit = kSeconds,
     .help = "time that packets of bursts spend in the measured queue",
     .source = kBurstSojourn,
     .place = "/burst_sojourn_seconds/mean",
     .column = {"sojourn"}},
    {.name = "background_goodput_bits_per_second",
     .unit = kBitsPerSecond,
     .help = "background payload delivered in order, first START or due time to the end of the run",
     .source =
         PerRun{[](const CaseSummary& c) { return c.metrics.background_goodput_bits_per_second; }},
     .place = "/background_goodput_bits_per_second",
     .tested = "background",
     .column = {"background"}},
    {.name = "rtos_per_burst",
     .unit = kNumber,
     .help = "retransmission time-outs of a push burst",
     .source = kRtosPerBurst,
     .place = "/push_bursts/rtos_per_burst",
     .tested = "RTOs per burst",
     .column = {"RTOs", "/burst"}},
    {.name = "burst_packets_dropped_per_burst",
     .unit = kPackets,
     .help = "packets of bursts dropped at any switch in a run, first bursts included, over the "
             "run's push bursts",
     .source = FromRun{&packets_dropped_per_burst},
     .change = false,
     .column = {"dropped", "packets /burst"}},
    {.name = "roce_queue_pairs",
     .unit = kNumber,
     .help = "queue pairs of workers, each connected to one of a server",
     .source = FromRun{&roce_queue_pairs},
     .change = false,
     .column = {"queue", "pairs"},
     .there = over_roce},
    {.name = "roce_cnps_per_burst",
     .unit = kPackets,
     .help = "congestion notification packets that responders sent over RoCEv2 in a run, first "
             "bursts included, over the run's push bursts",
     .source = FromRun{&roce_packets_per_burst<&tg::RoceCounters::cnps_sent>},
     .change = false,
     .column = {"CNPs", "/burst"},
     .there = over_roce},
    {.name = "roce_naks_per_burst",
     .unit = kPackets,
     .help = "negative acknowledgments that responders sent over RoCEv2 in a run, first "
             "bursts included, over the run's push bursts",
     .source = FromRun{&roce_packets_per_burst<&tg::RoceCounters::naks_sent>},
     .change = false,
     .column = {"NAKs", "/burst"},
     .there = over_roce},
    {.name = "roce_retransmitted_per_burst",
     .unit = kPackets,
     .help = "data packets that requesters sent again over RoCEv2 in a run, first "
             "bursts included, over the run's push bursts",
     .source = FromRun{&roce_packets_per_burst<&tg::RoceCounters::retransmitted>},
     .change = false,
     .column = {"sent again", "/burst"},
     .there = over_roce},
    {.name = "pauses_per_burst",
     .help = "pauses that switches with a lossless queue (PFC) asked of their neighbours in a run, "
             "renewals included, over the run's push bursts",
     .source = FromRun{&pauses_per_burst},
     .change = false,
     .column = {"pauses", "/burst"},
     .there = over_lossless},
    {.name = "host_paused_seconds_per_burst",
     .unit = kSeconds,
     .help = "time in which pauses (PFC) were in force at a host in a run, summed over hosts and "
             "priorities, also those that no flow has, over the run's push bursts",
     .source = FromRun{&paused_seconds_per_burst},
     .change = false,
     .column = {"paused", "ms /burst"},
     .there = over_lossless},
    {.name = "communication_over_alone_median",
     .unit = kNumber,
     .help =
         "earliest gradients ready to latest delivery of an iteration, over that of the off arm "
         "without background",
     .aggregate = kMedian,
     .source = kOverAlone,
     .column = {"/ alone"}},
    {.name = "communication_over_alone_p99",
     .unit = kNumber,
     .help =
         "earliest gradients ready to latest delivery of an iteration, over that of the off arm "
         "without background",
     .aggregate = kP99,
     .source = kOverAlone,
     .column = {"p99", "/ alone p99"}},
    {.name = "communication_p99_over_alone_median",
     .unit = kNumber,
     .help =
         "p99 of the communication of all iterations, first bursts included, over the median of "
         "the off arm without background",
     .aggregate = kP99,
     .source = kTailOverAlone,
     .column = {"p99", "/ alone"}},
    {.name = "iteration_over_alone_median",
     .unit = kNumber,
     .help = "an iteration of the slowest worker, over that of the off arm without background",
     .aggregate = kMedian,
     .source = kIterationOverAlone,
     .column = {"iteration", "/ alone"}},
    {.name = "first_communication_seconds_median",
     .unit = kSeconds,
     .help = "communication of each job's first iteration, if it is measured",
     .aggregate = kMedian,
     .source = times<&Samples::first_communication_seconds>,
     .column = {"first", "ms, median"}},
    {.name = "alone_rtos_per_burst",
     .unit = kNumber,
     .help = "retransmission time-outs of a push burst without background",
     .source = kAloneRtosPerBurst,
     .change = false,
     .column = {"alone RTOs", "/burst"}},
    {.name = "complete_iterations",
     .unit = kNumber,
     .help = "iterations with all workers' pushes delivered",
     .aggregate = kCount,
     .source = times<&Samples::communication_seconds>,
     .change = false,
     .column = {"iterations"}},
    {.name = "push_seconds_mean",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMean,
     .source = times<&Samples::push_seconds>,
     .column = {"push mean"}},
    {.name = "push_seconds_median",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMedian,
     .source = times<&Samples::push_seconds>,
     .column = {"push median"}},
    {.name = "push_seconds_p99",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kP99,
     .source = times<&Samples::push_seconds>,
     .column = {"push p99"}},
    {.name = "push_seconds_max",
     .unit = kSeconds,
     .help = "gradients ready to delivered of one worker's push",
     .aggregate = kMost,
     .source = times<&Samples::push_seconds>,
     .column = {"push largest"}},
    {.name = "pushes_delivered",
     .unit = kNumber,
     .help = "workers' pushes that were delivered",
     .aggregate = kCount,
     .source = times<&Samples::push_seconds>,
     .change = false,
     .column = {"pushes"}},
    {.name = "push_delivered_share_mean",
     .unit = kShare,
     .help = "bytes of a delivered push that the servers have",
     .aggregate = kMean,
     .source = samples<&Samples::push_delivered_shares>,
     .change = false,
     .column = {"delivered"}},
    {.name = "push_delivered_share_least",
     .unit = kShare,
     .help = "bytes of a delivered push that the servers have",
     .aggregate = kLeast,
     .source = samples<&Samples::push_delivered_shares>,
     .change = false,
     .column = {"least", "% deliv."}}};

}  // namespace burst_rows

std::span<const Metric> rows_of_bursts() { return burst_rows::kRows; }

}  // namespace outrider::lab
