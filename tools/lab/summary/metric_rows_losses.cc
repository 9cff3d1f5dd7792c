#include <algorithm>

#include "tools/lab/measure/failure_impact.h"
#include "tools/lab/summary/metric_rows.h"

// What time-outs, switches and RoCEv2 did to the bursts.

namespace outrider::lab {

namespace loss_rows {

using enum Aggregate;
using enum Unit;

constexpr RatioOfSums kRtosPerBurst{
    [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_rtos); },
    [](const CaseSummary& c) { return static_cast<double>(c.metrics.push_bursts); }};

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

/// Returns the packets that switches gave CE over those that their ports sent, of the whole run.
std::vector<double> marked_share(const CaseRun& run) {
  double marked = 0, sent = 0;
  for (const auto& queue : run.result.switches.queues)
    for (std::size_t c = 0; c < kTrafficClasses; ++c) {
      marked += static_cast<double>(sum(queue.marks.values[c]));
      sent += static_cast<double>(queue.transmitted.values[c]);
    }
  if (sent == 0) return {};
  return {marked / sent};
}

/// Returns a count over the data packets that TCP and RoCEv2 received, duplicates aside.
std::vector<double> per_data_packet(const tg::GeneratorReport& r, std::uint64_t count) {
  const std::uint64_t all = r.roce.in_order + r.roce.out_of_order + r.tcp_events.data_received;
  if (all == 0) return {};
  return {static_cast<double>(count) / static_cast<double>(all)};
}

std::vector<double> out_of_order_share(const CaseRun& run) {
  const tg::GeneratorReport& r = run.result.traffic;
  return per_data_packet(r, r.roce.out_of_order + r.tcp_events.out_of_order);
}

std::vector<double> sent_again_share(const CaseRun& run) {
  const tg::GeneratorReport& r = run.result.traffic;
  return per_data_packet(r, r.roce.retransmitted + r.tcp_events.retransmitted);
}

std::vector<double> flowlets_per_burst(const CaseRun& run) {
  const std::uint64_t begun = run.result.switches.flowlets_begun;
  if (begun == 0) return {};
  return per_push_burst(run, begun);
}

std::vector<double> packets_lost_on_links(const CaseRun& run) {
  if (run.definition->changes.empty()) return {};
  std::uint64_t lost = 0;
  for (const auto& queue : run.result.switches.queues)
    for (const auto& drops : queue.drops.values) lost += drops[DropReason::kInjectedLoss];
  return {static_cast<double>(lost)};
}

template <std::vector<double> FailureImpact::*kFigure>
constexpr FromRun of_failure{[](const CaseRun& run) { return failure_impact(run).*kFigure; }};

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

std::vector<double> watchdog_releases(const CaseRun& run) {
  std::uint64_t releases = 0;
  for (const auto& queue : run.result.switches.queues) releases += queue.pause.watchdog_releases;
  return {static_cast<double>(releases)};
}

/// Returns the NAKs of background; nothing if none is over RoCEv2.
std::vector<double> background_naks(const CaseRun& run) {
  const tg::RoceCounters& roce = run.result.traffic.background_roce;
  if (roce.sent == 0) return {};
  return {static_cast<double>(roce.naks_sent)};
}

/// Returns the longest row of bins without payload, from the first that has some to the end of the
/// run, or of the bins that were kept.
std::vector<double> longest_stall_seconds(const CaseRun& run) {
  const tg::GeneratorReport& traffic = run.result.traffic;
  const std::vector<tg::GoodputBin>& bins = traffic.bins;
  const auto delivers = [](const tg::GoodputBin& bin) { return sum(bin.delivered_bytes) != 0; };
  const auto first = std::ranges::find_if(bins, delivers);
  if (first == bins.end() || traffic.bin_ns <= 0) return {};
  std::int64_t last = first - bins.begin(), longest = 0;
  const auto reached = [&](std::int64_t bin) { longest = std::max(longest, bin - last - 1); };
  for (std::int64_t b = last; b < std::ssize(bins); ++b)
    if (delivers(bins[static_cast<std::size_t>(b)])) {
      reached(b);
      last = b;
    }
  if (bins.size() < run.definition->traffic.max_bins) reached(traffic.end_ns / traffic.bin_ns);
  return {static_cast<double>(longest * traffic.bin_ns) * 1e-9};
}

constexpr Metric kRows[] = {
    {.name = "rtos_per_burst",
     .unit = kNumber,
     .help = "retransmission time-outs of a push burst",
     .source = kRtosPerBurst,
     .tested = "RTOs per burst",
     .column = {"RTOs", "/burst"}},
    {.name = "burst_packets_dropped_per_burst",
     .unit = kPackets,
     .help = "packets of bursts dropped at any switch in a run, first bursts included, over the "
             "run's push bursts",
     .source = FromRun{&packets_dropped_per_burst},
     .change = false,
     .column = {"dropped", "packets /burst"}},
    {.name = "ecn_marked_share",
     .unit = kShare,
     .help = "packets that the switches gave CE in a run over those that their ports sent",
     .source = FromRun{&marked_share},
     .change = false,
     .column = {"marked"},
     .without_job = true},
    {.name = "out_of_order_share",
     .unit = kShare,
     .help = "data packets of TCP and RoCEv2 that arrived before earlier ones of their connection, "
             "lost or overtaken, over all that arrived in the run, duplicates aside",
     .source = FromRun{&out_of_order_share},
     .change = false,
     .column = {"early"},
     .without_job = true},
    {.name = "sent_again_share",
     .unit = kShare,
     .help = "data packets that TCP and RoCEv2 sent again, over all that arrived in the run, "
             "duplicates aside",
     .source = FromRun{&sent_again_share},
     .change = false,
     .column = {"sent again"},
     .without_job = true},
    {.name = "flowlets_per_burst",
     .unit = kNumber,
     .help =
         "flowlets that switches saw in a run, at each switch that spreads them, over the run's "
         "push bursts",
     .source = FromRun{&flowlets_per_burst},
     .change = false,
     .column = {"flowlets", "/burst"}},
    {.name = "failed_links_lost_packets",
     .unit = kPackets,
     .help = "packets lost on links in a run in which some link fails",
     .source = FromRun{&packets_lost_on_links},
     .column = {"lost on", "links"},
     .without_job = true},
    {.name = "failure_iteration_over_steady_median",
     .unit = kNumber,
     .help = "longest iteration that ended after the first failure of a link, over the median of "
             "those before it, mean of jobs and runs",
     .source = of_failure<&FailureImpact::over_steady_median>,
     .column = {"iteration", "/ steady"}},
    {.name = "failure_iteration_over_steady_p99",
     .unit = kNumber,
     .help = "the same over the p99 of those before it: up to 1 the failure had no impact",
     .source = of_failure<&FailureImpact::over_steady_p99>,
     .column = {"iteration", "/ steady p99"}},
    {.name = "failure_recovery_seconds",
     .unit = kSeconds,
     .help =
         "first failure of a link until the first iteration after the longest that takes at most "
         "1.05 times the median of those before the failure, mean of the jobs and runs that "
         "recover",
     .source = of_failure<&FailureImpact::recovery_seconds>,
     .column = {"until", "recovered"}},
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
    {.name = "background_roce_naks",
     .unit = kPackets,
     .help = "negative acknowledgments that responders of background sent over RoCEv2 in a run",
     .source = FromRun{&background_naks},
     .change = false,
     .column = {"NAKs", "background"},
     .there = over_lossless,
     .without_job = true},
    {.name = "longest_stall_seconds",
     .unit = kSeconds,
     .help = "longest time of a run in which no host received payload in order, of bursts or of "
             "background, in bins of a base round trip; of bursts alone, times between them count",
     .source = FromRun{&longest_stall_seconds},
     .change = false,
     .column = {"stall", "ms"},
     .there = over_lossless,
     .without_job = true},
    {.name = "watchdog_releases",
     .unit = kNumber,
     .help = "pauses (PFC) of a run that the switches' watchdogs ended",
     .source = FromRun{&watchdog_releases},
     .change = false,
     .column = {"watchdog", "releases"},
     .there = over_lossless,
     .without_job = true}};

}  // namespace loss_rows

std::span<const Metric> rows_of_losses() { return loss_rows::kRows; }

}  // namespace outrider::lab
