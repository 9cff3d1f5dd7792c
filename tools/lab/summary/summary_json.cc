#include <nlohmann/json.hpp>

#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

constexpr int kSchemaVersion = 1;

// NaN is written as null.

Json json_of(const Statistics& s) {
  return {{"mean", s.mean}, {"median", s.median}, {"p99", s.p99},
          {"min", s.min},   {"max", s.max},       {"count", s.count}};
}

Json json_of(const std::vector<double>& samples) { return json_of(statistics_of(samples)); }

Json json_of(const Parameters& parameters) {
  Json out = Json::object();
  for (const auto& [name, value] : parameters)
    std::visit([&out, &key = name](const auto& v) { out[key] = v; }, value);
  return out;
}

template <std::size_t N>
Json by_reason(const std::array<std::uint64_t, N>& counts,
               const std::array<std::string_view, N>& names) {
  Json out = Json::object();
  for (std::size_t i = 0; i < N; ++i) out[std::string(names[i])] = counts[i];
  return out;
}

template <std::size_t N>
Json by_class(const PerClass<std::array<std::uint64_t, N>>& counts,
              const std::array<std::string_view, N>& names) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    out[std::string(kTrafficClassNames[c])] = by_reason(counts.values[c], names);
  return out;
}

Json json_of(const PerClass<RtoCounts>& rtos) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    out[std::string(kTrafficClassNames[c])] = {{"data", rtos.values[c].data},
                                               {"handshake", rtos.values[c].handshake}};
  return out;
}

const char* name_of(CostBasis basis) {
  switch (basis) {
    case CostBasis::kWindows:
      return "windows around bursts";
    case CostBasis::kWholeRun:
      return "rates over the whole run";
    case CostBasis::kNone:
      break;
  }
  return "none";
}

Json json_of(const BackgroundCost& c) {
  return {
      {"lost_fraction", c.lost_fraction},
      {"transfer_bytes", c.transfer_bytes},
      {"waste_bytes", c.waste_bytes},
      {"unexplained_bytes", c.unexplained_bytes},
      {"lost_bytes", c.lost_bytes},
      {"reference_bytes", c.reference_bytes},
      {"ddl_bytes_gained_per_background_byte_lost", c.ddl_bytes_gained_per_background_byte_lost},
      {"basis", name_of(c.basis)},
      {"lead_seconds", c.lead_seconds},
      {"window_seconds", c.window_seconds},
      {"windows", c.windows},
      {"windows_left_out", c.windows_left_out},
      {"window_exceeded", c.window_exceeded}};
}

Json json_of(const SignalCounts& s) {
  return {{"starts_sent", s.starts_sent},
          {"starts_meant", s.starts.meant},
          {"starts_lost", s.starts.lost},
          {"starts_late", s.starts.late},
          {"starts_early", s.starts.early},
          {"starts_duplicated", s.starts.duplicated},
          {"starts_forged", s.starts.forged},
          {"acks_sent", s.acks_sent},
          {"acks_received", s.acks_received},
          {"ack_timeouts", s.ack_timeouts},
          {"bad_code", s.bad_code},
          {"not_accepted", s.not_accepted},
          {"over_rate", s.over_rate},
          {"armed", s.armed},
          {"repeated", s.repeated},
          {"refused_budget", s.refused_budget},
          {"refused_table", s.refused_table},
          {"recovered_arrival", s.recovered_arrival},
          {"recovered_burst_end", s.recovered_burst_end},
          {"recovered_timer", s.recovered_timer},
          {"expired", s.expired},
          {"budget_exhausted", s.budget_exhausted},
          {"replaced", s.replaced},
          {"entries_left", s.entries_left}};
}

Json json_of(const MeasuredQueue& q) {
  return {{"switch", q.switch_name},
          {"port", q.port_name},
          {"queue", "data"},
          {"found", q.found},
          {"drain_bits_per_second", q.drain_bits_per_second},
          {"regulated_share", q.regulated_share},
          {"bursts_not_recorded", q.bursts_not_recorded},
          {"ce_marks", by_class(q.marks, kMarkReasonNames)},
          {"drops", by_class(q.drops, kDropReasonNames)}};
}

Json json_of(const BackgroundDip& d) {
  return {{"lowest_bits_per_second", json_of(d.lowest_bits_per_second)},
          {"lowest_share", json_of(d.lowest_share)},
          {"recovery_seconds", json_of(d.recovery_seconds)},
          {"not_recovered", d.not_recovered}};
}

Json json_of(const Noise& n) {
  return {{"longest_poll_gap_seconds",
           {{"switch", n.longest_poll_gap_switch_seconds},
            {"generator", n.longest_poll_gap_generator_seconds}}},
          {"tolerated_gap_seconds", n.tolerated_gap_seconds},
          {"iterations_flagged_at_most", n.iterations_flagged},
          {"iterations_excluded", n.iterations_excluded}};
}

/// Means over the pushes that have it.
Json json_of(const Attribution& a) {
  Json seconds = Json::object();
  for (std::size_t i = 0; i < kBurstTimes; ++i)
    seconds[std::string(kBurstTimeNames[i])] = a.seconds_sum[i] / static_cast<double>(a.bursts);
  return {{"push_bursts", a.bursts}, {"mean_seconds", std::move(seconds)}};
}

Json updates_of(const LearningMetrics& l) {
  return {{"gap_seconds", json_of(l.update_gap_seconds)},
          {"gap_variation", l.update_gap_variation},
          {"staleness_mean", l.staleness_mean},
          {"staleness_max", l.staleness_max},
          {"wait_spread_seconds", l.wait_spread_seconds}};
}

Json learner_of(const LearningMetrics& l) {
  return {{"time_to_loss_seconds", l.time_to_loss_seconds},
          {"gradients_to_loss", l.gradients_to_loss},
          {"last_loss", l.last_loss},
          {"least_loss", l.least_loss},
          {"diverged", l.diverged},
          {"zeroed_values", l.zeroed_values},
          {"kept_values", l.kept_values}};
}

Json json_of(const NicUse& use) { return {{"sending", use.sending}, {"receiving", use.receiving}}; }

Json json_of(const JobsMetrics& jobs) {
  Json each = Json::array();
  std::vector<double> completions;
  for (const auto& job : jobs.each) {
    completions.push_back(job.completion_seconds);
    each.push_back({{"name", job.name},
                    {"start_seconds", job.start_seconds},
                    {"completion_seconds", job.completion_seconds},
                    {"iteration_seconds_median", job.iteration_seconds_median},
                    {"worker_spread_seconds_mean", job.worker_spread_seconds_mean}});
  }
  return {
      {"completion_seconds", json_of(completions)},
      {"worker_spread_seconds", json_of(jobs.worker_spread_seconds)},
      {"nic_use",
       {{"server_hosts", json_of(jobs.server_hosts)}, {"other_hosts", json_of(jobs.other_hosts)}}},
      {"each", std::move(each)}};
}

double per(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? kNotDefined : static_cast<double>(count) / static_cast<double>(of);
}

/// Median burst completion over each reference.
Json slowdowns_of(const CaseSummary& c) {
  const double own = median(c.metrics.samples.burst_completion_seconds);
  return {{"ideal", own / c.references.ideal},
          {"alone", own / c.references.alone},
          {"fair", own / c.references.fair}};
}

/// The names that the schema promises.
Json promised_metrics_of(const CaseSummary& c) {
  const CaseMetrics& m = c.metrics;
  const Samples& s = m.samples;
  return {
      {"start_queue_packets", json_of(s.start_queue_packets)},
      {"max_queue_packets", json_of(s.max_queue_packets)},
      {"burst_completion_seconds", json_of(s.burst_completion_seconds)},
      {"communication_seconds", json_of(s.communication_seconds)},
      {"iteration_seconds", json_of(s.iteration_seconds)},
      {"first_layer_seconds", json_of(s.first_layer_seconds)},
      {"forward_wait_seconds", json_of(s.forward_wait_seconds)},
      {"nic_send_idle_share", json_of(s.nic_send_idle_share)},
      {"nic_receive_idle_share", json_of(s.nic_receive_idle_share)},
      {"ddl_throughput_bits_per_second", json_of(s.burst_throughput_bits_per_second)},
      {"burst_sojourn_seconds", json_of(m.burst_sojourn_seconds)},
      {"background_goodput_bits_per_second", m.background_goodput_bits_per_second},
      {"background_cost", json_of(c.background_cost)},
      {"references_seconds",
       {{"ideal", c.references.ideal}, {"alone", c.references.alone}, {"fair", c.references.fair}}},
      {"rtos", json_of(m.rtos)},
      {"ce_marks", by_class(m.ce_marks, kMarkReasonNames)},
      {"drops", by_class(m.drops, kDropReasonNames)},
      {"ledger_balanced", m.ledger_balanced}};
}

void add_further_metrics(const CaseSummary& c, Json& out) {
  const CaseMetrics& m = c.metrics;
  const Samples& s = m.samples;
  out["slowdown"] = slowdowns_of(c);
  out["start_queue_total_packets"] = json_of(s.start_queue_total_packets);
  out["start_queue_bytes"] = json_of(s.start_queue_bytes);
  out["worker_start_queue_packets"] = json_of(s.worker_start_queue_packets);
  out["interval_sojourn_seconds"] = json_of(m.interval_sojourn_seconds);
  out["pull_completion_seconds"] = json_of(s.pull_completion_seconds);
  out["job_completion_seconds"] = m.job_completion_seconds;
  out["path_imbalance"] = m.path_imbalance;
  out["ddl_total_throughput_bits_per_second"] = m.ddl_total_throughput_bits_per_second;
  out["ddl_goodput_bits_per_second"] = m.ddl_goodput_bits_per_second;
  out["goodput_from_seconds"] = m.measured_from_seconds;
  out["goodput_to_seconds"] = m.measured_to_seconds;
  out["background_dip"] = json_of(m.background_dip);
  out["iterations"] = {{"recorded", m.iterations}, {"incomplete", m.incomplete}, {"late", m.late}};
  out["push_bursts"] = {{"count", m.push_bursts},
                        {"rtos", m.push_rtos},
                        {"rtos_per_burst", per(m.push_rtos, m.push_bursts)},
                        {"retransmitted_segments", m.push_retransmitted},
                        {"delivered_share", m.push_delivered_share},
                        {"delivered_share_least", m.push_delivered_share_least}};
  if (!m.jobs.each.empty()) out["jobs"] = json_of(m.jobs);
  if (m.attribution.bursts != 0) out["attribution"] = json_of(m.attribution);
  out["worker_iteration_seconds"] = json_of(m.learning.worker_iteration_seconds);
  out["wait_seconds"] = json_of(m.learning.wait_seconds);
  out["updates"] = updates_of(m.learning);
  if (m.learning.learns) out["learner"] = learner_of(m.learning);
  out["signals"] = json_of(m.signals);
  out["measured_queue"] = json_of(m.queue);
  out["generator_drops"] = by_reason(m.generator_drops, kDropReasonNames);
  out["device"] = {{"rx_missed", m.device_rx_missed}, {"rx_nombuf", m.device_rx_nombuf}};
  out["noise"] = json_of(m.noise);
}

Json json_of(const CaseSummary& c) {
  Json metrics = promised_metrics_of(c);
  add_further_metrics(c, metrics);
  Json out{{"label", c.label},
           {"parameters", json_of(c.parameters)},
           {"seed", c.seed},
           {"base_rtt_seconds", std::chrono::duration<double>(c.base_rtt).count()},
           {"metrics", std::move(metrics)},
           {"point", c.point},
           {"off_case", nullptr},
           {"interrupted", c.interrupted}};
  if (c.off_case) out["off_case"] = *c.off_case;
  return out;
}

Json json_of(const Estimate& e) { return {{"value", e.value}, {"low", e.low}, {"high", e.high}}; }

Json json_of(const ArmSummary& arm, const std::vector<CaseSummary>& cases) {
  Json seeds = Json::array();
  for (const std::size_t i : arm.cases) seeds.push_back(cases[i].seed);
  Json metrics = Json::object();
  for (const auto& m : arm.metrics)
    metrics[m.name] = {{"value", json_of(m.value)}, {"change", json_of(m.change)}};
  return {{"label", arm.label},       {"parameters", json_of(arm.parameters)},
          {"point", arm.point},       {"seeds", std::move(seeds)},
          {"cases", Json(arm.cases)}, {"metrics", std::move(metrics)}};
}

}  // namespace

std::string to_json(const Summary& summary) {
  Json out{{"schema_version", kSchemaVersion},   {"experiment", summary.experiment},
           {"question", summary.question},       {"runtime", name_of(summary.runtime)},
           {"interrupted", summary.interrupted}, {"planned_cases", summary.planned_cases}};
  if (summary.quick) out["quick"] = true;
  for (const char* list : {"warnings", "cases", "arms"}) out[list] = Json::array();
  for (const auto& w : warnings_of(summary))
    out["warnings"].push_back(
        {{"label", w.label}, {"point", w.point}, {"count", w.count}, {"text", w.text}});
  for (const auto& c : summary.cases) out["cases"].push_back(json_of(c));
  for (const auto& arm : summary.arms) out["arms"].push_back(json_of(arm, summary.cases));
  // Labels and names come from files that may hold any byte.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace outrider
