#include "tools/lab/summary/case_fields.h"

#include "tools/lab/summary/case_field_makers.h"
#include "tools/lab/summary/case_field_objects.h"

namespace outrider::lab::case_field_rows {

Json basis_schema() {
  return {
      {"enum",
       {name_of(CostBasis::kWindows), name_of(CostBasis::kWholeRun), name_of(CostBasis::kNone)}}};
}

Json basis_of(const CaseSummary& c) { return name_of(c.background_cost.basis); }

/// Returns the median burst completion divided by a reference.
template <double References::*kReference>
Json slowdown(const CaseSummary& c) {
  return statistics_of(c.metrics.samples.burst_completion_seconds).median /
         (c.references.*kReference);
}

Json rtos_per_burst(const CaseSummary& c) {
  const CaseMetrics& m = c.metrics;
  return m.push_bursts == 0 ? kNotDefined
                            : static_cast<double>(m.push_rtos) / static_cast<double>(m.push_bursts);
}

constexpr CaseField kRows[] = {
    sample<&Samples::start_queue_packets>(
        "/start_queue_packets",
        "background waiting when an iteration's earliest packet arrives at the measured queue"),
    sample<&Samples::max_queue_packets>("/max_queue_packets",
                                        "largest occupancy while the burst was in progress"),
    sample<&Samples::burst_completion_seconds>(
        "/burst_completion_seconds", "first byte sent to last byte delivered, the slowest worker"),
    sample<&Samples::communication_seconds>(
        "/communication_seconds",
        "earliest gradients ready, before any START or wait, to the latest delivery"),
    sample<&Samples::iteration_seconds>("/iteration_seconds"),
    sample<&Samples::first_layer_seconds>(
        "/first_layer_seconds",
        "last gradient ready to parameters of tensor 0, the slowest worker"),
    sample<&Samples::forward_wait_seconds>(
        "/forward_wait_seconds",
        "of the forward pass for parameters of later layers, the slowest worker"),
    sample<&Samples::nic_send_idle_share>(
        "/nic_send_idle_share",
        "of the time from first gradient to all parameters, mean over workers"),
    sample<&Samples::nic_receive_idle_share>("/nic_receive_idle_share"),
    sample<&Samples::burst_throughput_bits_per_second>("/ddl_throughput_bits_per_second",
                                                       "one value a burst"),
    metric<&CaseMetrics::burst_sojourn_seconds>("/burst_sojourn_seconds",
                                                "in the measured queue, packets of bursts"),
    metric<&CaseMetrics::background_goodput_bits_per_second>("/background_goodput_bits_per_second"),
    object("/background_cost", "against the baseline, signed"),
    cost<&BackgroundCost::lost_fraction>("/background_cost/lost_fraction"),
    cost<&BackgroundCost::transfer_bytes>("/background_cost/transfer_bytes"),
    cost<&BackgroundCost::waste_bytes>("/background_cost/waste_bytes"),
    cost<&BackgroundCost::unexplained_bytes>("/background_cost/unexplained_bytes"),
    cost<&BackgroundCost::lost_bytes>("/background_cost/lost_bytes"),
    cost<&BackgroundCost::reference_bytes>("/background_cost/reference_bytes"),
    cost<&BackgroundCost::ddl_bytes_gained_per_background_byte_lost>(
        "/background_cost/ddl_bytes_gained_per_background_byte_lost"),
    CaseField{"/background_cost/basis", "", basis_schema, basis_of},
    cost<&BackgroundCost::lead_seconds>("/background_cost/lead_seconds"),
    cost<&BackgroundCost::window_seconds>("/background_cost/window_seconds"),
    cost<&BackgroundCost::windows>("/background_cost/windows"),
    cost<&BackgroundCost::windows_left_out>("/background_cost/windows_left_out"),
    cost<&BackgroundCost::window_exceeded>("/background_cost/window_exceeded"),
    field<&CaseSummary::references, &References::ideal>("/references_seconds/ideal"),
    field<&CaseSummary::references, &References::alone>("/references_seconds/alone"),
    field<&CaseSummary::references, &References::fair>("/references_seconds/fair"),
    metric<&CaseMetrics::rtos>("/rtos", "by class of traffic"),
    metric<&CaseMetrics::ce_marks>("/ce_marks", "all queues of all switches"),
    metric<&CaseMetrics::drops>("/drops", "all switches"),
    metric<&CaseMetrics::ledger_balanced>(
        "/ledger_balanced", "false: packets are not accounted for, and the run proves nothing"),
    object("/slowdown", "median burst completion over each reference"),
    number("/slowdown/ideal", "", slowdown<&References::ideal>),
    number("/slowdown/alone", "", slowdown<&References::alone>),
    number("/slowdown/fair", "", slowdown<&References::fair>),
    sample<&Samples::start_queue_total_packets>("/start_queue_total_packets"),
    sample<&Samples::start_queue_bytes>("/start_queue_bytes"),
    sample<&Samples::worker_start_queue_packets>("/worker_start_queue_packets"),
    metric<&CaseMetrics::interval_sojourn_seconds>(
        "/interval_sojourn_seconds", "of all packets that left while a burst was in progress"),
    sample<&Samples::pull_completion_seconds>("/pull_completion_seconds"),
    metric<&CaseMetrics::job_completion_seconds>("/job_completion_seconds"),
    metric<&CaseMetrics::path_imbalance>("/path_imbalance"),
    metric<&CaseMetrics::ddl_total_throughput_bits_per_second>(
        "/ddl_total_throughput_bits_per_second"),
    metric<&CaseMetrics::ddl_goodput_bits_per_second>("/ddl_goodput_bits_per_second"),
    metric<&CaseMetrics::measured_from_seconds>("/goodput_from_seconds"),
    metric<&CaseMetrics::measured_to_seconds>("/goodput_to_seconds"),
    metric<&CaseMetrics::background_dip, &BackgroundDip::lowest_bits_per_second>(
        "/background_dip/lowest_bits_per_second"),
    metric<&CaseMetrics::background_dip, &BackgroundDip::lowest_share>(
        "/background_dip/lowest_share"),
    metric<&CaseMetrics::background_dip, &BackgroundDip::recovery_seconds>(
        "/background_dip/recovery_seconds"),
    metric<&CaseMetrics::background_dip, &BackgroundDip::not_recovered>(
        "/background_dip/not_recovered"),
    metric<&CaseMetrics::iterations>("/iterations/recorded"),
    metric<&CaseMetrics::incomplete>("/iterations/incomplete"),
    metric<&CaseMetrics::late>("/iterations/late"),
    metric<&CaseMetrics::push_bursts>("/push_bursts/count"),
    metric<&CaseMetrics::push_rtos>("/push_bursts/rtos"),
    number("/push_bursts/rtos_per_burst", "", rtos_per_burst),
    metric<&CaseMetrics::push_retransmitted>("/push_bursts/retransmitted_segments"),
    metric<&CaseMetrics::push_delivered_share>("/push_bursts/delivered_share"),
    metric<&CaseMetrics::push_delivered_share_least>("/push_bursts/delivered_share_least"),
    object(
        "/burst_peaks",
        "bytes of bursts in the fullest window at the measured queue over those of the mean one"),
    metric<&CaseMetrics::burst_peaks, &BurstPeaks::link_share>(
        "/burst_peaks/link_share", "frame bytes of bursts over what the port could send"),
    metric<&CaseMetrics::burst_peaks, &BurstPeaks::over_1ms>("/burst_peaks/over_1ms"),
    metric<&CaseMetrics::burst_peaks, &BurstPeaks::over_10ms>("/burst_peaks/over_10ms"),
    metric<&CaseMetrics::burst_peaks, &BurstPeaks::over_100ms>("/burst_peaks/over_100ms"),
    object("/jobs", "only with several jobs",
           [](const CaseMetrics& m) { return !m.jobs.each.empty(); }),
    CaseField{"/jobs/completion_seconds", "first begin to last end, one value a job",
              schema_of<Statistics>, completions_of},
    metric<&CaseMetrics::jobs, &JobsMetrics::worker_spread_seconds>(
        "/jobs/worker_spread_seconds",
        "last less first worker whose parameters are all there, one value an iteration of a job"),
    object("/jobs/nic_use",
           "share of the run in which payload of bursts, with its headers, occupies the NIC; mean "
           "of the hosts"),
    metric<&CaseMetrics::jobs, &JobsMetrics::server_hosts>("/jobs/nic_use/server_hosts"),
    metric<&CaseMetrics::jobs, &JobsMetrics::other_hosts>("/jobs/nic_use/other_hosts"),
    CaseField{"/jobs/each", "", each_job_schema, each_job},
    CaseField{"/background_groups", "only with [[background]]: a group each, over the whole run",
              groups_schema, groups_of, [](const CaseMetrics& m) { return !m.groups.empty(); }},
    object("/links", "only in a fabric, see docs/fabric.md",
           [](const CaseMetrics& m) { return !m.links.tiers.empty(); }),
    metric<&CaseMetrics::links, &LinkMetrics::span_seconds>("/links/span_seconds",
                                                            "of utilisation: the whole run"),
    CaseField{"/links/tiers", "links between switches first", tiers_of_links_schema,
              tiers_of_links},
    object("/attribution", "only with the parameter attribution",
           [](const CaseMetrics& m) { return m.attribution.bursts != 0; }),
    metric<&CaseMetrics::attribution, &Attribution::bursts>("/attribution/push_bursts"),
    CaseField{"/attribution/mean_seconds", "of the pushes that have it", mean_times_schema,
              mean_times},
    learning<&LearningMetrics::worker_iteration_seconds>("/worker_iteration_seconds",
                                                         "every iteration of every worker"),
    learning<&LearningMetrics::wait_seconds>(
        "/wait_seconds",
        "own push delivered to nobody waited for, every iteration of every worker"),
    object("/updates", "of the servers' parameters: workers' whole pushes"),
    learning<&LearningMetrics::update_gap_seconds>("/updates/gap_seconds"),
    learning<&LearningMetrics::update_gap_variation>(
        "/updates/gap_variation", "standard deviation of the gaps to their mean"),
    learning<&LearningMetrics::staleness_mean>("/updates/staleness_mean"),
    learning<&LearningMetrics::staleness_max>("/updates/staleness_max"),
    learning<&LearningMetrics::wait_spread_seconds>(
        "/updates/wait_spread_seconds",
        "mean wait of the worker that waits most, less that of the one that waits least"),
    object("/learner", "only where a job learns",
           [](const CaseMetrics& m) { return m.learning.learns; }),
    learning<&LearningMetrics::time_to_loss_seconds>(
        "/learner/time_to_loss_seconds",
        "from the job's begin to the first loss at or below the target"),
    learning<&LearningMetrics::gradients_to_loss>("/learner/gradients_to_loss",
                                                  "of workers, applied by then"),
    learning<&LearningMetrics::last_loss>("/learner/last_loss"),
    learning<&LearningMetrics::least_loss>("/learner/least_loss"),
    learning<&LearningMetrics::diverged>("/learner/diverged", "jobs whose loss was no number"),
    learning<&LearningMetrics::zeroed_values>("/learner/zeroed_values",
                                              "of gradients, not delivered"),
    learning<&LearningMetrics::zeroed_share>("/learner/zeroed_share",
                                             "of all values of gradients, not delivered"),
    learning<&LearningMetrics::zeroed_magnitude_share>("/learner/zeroed_magnitude_share",
                                                       "of the sum of all gradients' magnitudes"),
    learning<&LearningMetrics::kept_values>(
        "/learner/kept_values", "of workers' parameters, because new ones were not delivered"),
    CaseField{"/signals", "counters of the hosts, the switches and the measured queue's regulator",
              signals_schema, signals_of},
    signal<&SignalCounts::starts, &tg::StartCounts::meant>("/signals/starts_meant"),
    signal<&SignalCounts::starts, &tg::StartCounts::lost>("/signals/starts_lost"),
    signal<&SignalCounts::starts, &tg::StartCounts::late>("/signals/starts_late"),
    signal<&SignalCounts::starts, &tg::StartCounts::early>("/signals/starts_early"),
    signal<&SignalCounts::starts, &tg::StartCounts::duplicated>("/signals/starts_duplicated"),
    signal<&SignalCounts::starts, &tg::StartCounts::forged>("/signals/starts_forged"),
    signal<&SignalCounts::ack_timeouts>("/signals/ack_timeouts"),
    signal<&SignalCounts::entries_left>("/signals/entries_left"),
    CaseField{"/roce", "counters of all queue pairs; only over RoCEv2", roce_schema, roce_of,
              [](const CaseMetrics& m) { return m.roce.sent != 0; }},
    queue<&MeasuredQueue::switch_name>("/measured_queue/switch"),
    queue<&MeasuredQueue::port_name>("/measured_queue/port"),
    CaseField{"/measured_queue/queue", "", schema_of<std::string>,
              [](const CaseSummary&) -> Json { return "data"; }},
    queue<&MeasuredQueue::found>("/measured_queue/found"),
    queue<&MeasuredQueue::drain_bits_per_second>("/measured_queue/drain_bits_per_second"),
    queue<&MeasuredQueue::regulated_share>("/measured_queue/regulated_share"),
    queue<&MeasuredQueue::bursts_not_recorded>("/measured_queue/bursts_not_recorded"),
    queue<&MeasuredQueue::marks>("/measured_queue/ce_marks"),
    queue<&MeasuredQueue::drops>("/measured_queue/drops"),
    metric<&CaseMetrics::generator_drops>("/generator_drops", "by reason"),
    metric<&CaseMetrics::device_rx_missed>("/device/rx_missed", "null: a device does not count it"),
    metric<&CaseMetrics::device_rx_nombuf>("/device/rx_nombuf", "null: a device does not count it"),
    metric<&CaseMetrics::device_rx_errors>("/device/rx_errors",
                                           "damaged; null: a device does not count it"),
    metric<&CaseMetrics::noise, &Noise::longest_poll_gap_switch_seconds>(
        "/noise/longest_poll_gap_seconds/switch"),
    metric<&CaseMetrics::noise, &Noise::longest_poll_gap_generator_seconds>(
        "/noise/longest_poll_gap_seconds/generator"),
    metric<&CaseMetrics::noise, &Noise::tolerated_gap_seconds>("/noise/tolerated_gap_seconds"),
    metric<&CaseMetrics::noise, &Noise::iterations_flagged>("/noise/iterations_flagged_at_most"),
    metric<&CaseMetrics::noise, &Noise::iterations_excluded>("/noise/iterations_excluded"),
};

}  // namespace outrider::lab::case_field_rows

namespace outrider::lab {

std::span<const CaseField> case_fields() { return case_field_rows::kRows; }

}  // namespace outrider::lab
