#include "tools/lab/summary/case_fields.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace outrider::lab::case_field_rows {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

// NaN is written as null.

Json json_of(const Statistics& s) {
  return {{"mean", s.mean}, {"median", s.median}, {"p99", s.p99},
          {"min", s.min},   {"max", s.max},       {"count", s.count}};
}

Json json_of(const std::vector<double>& samples) { return json_of(statistics_of(samples)); }
Json json_of(const JobSamples& times) { return json_of(statistics_of(times)); }
Json json_of(const NicUse& use) { return {{"sending", use.sending}, {"receiving", use.receiving}}; }

template <class T>
requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string> Json json_of(const T& value) {
  return value;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <class E>
Json json_of(const PerReason<E>& counts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) out[std::string(names_of(E{})[i])] = counts[i];
  return out;
}

template <class Value, class ToJson>
Json by_class(const PerClass<Value>& values, ToJson to_json) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    out[std::string(kTrafficClassNames[c])] = to_json(values.values[c]);
  return out;
}

template <class E>
Json json_of(const PerClass<PerReason<E>>& counts) {
  return by_class(counts, [](const auto& by_reason) { return json_of(by_reason); });
}

Json json_of(const PerClass<RtoCounts>& rtos) {
  return by_class(rtos, [](const RtoCounts& r) {
    return Json{{"data", r.data}, {"handshake", r.handshake}};
  });
}

// -- schemas

Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

Json object_schema() { return {{"type", "object"}, {"properties", Json::object()}}; }

Json rtos_schema() {
  return {{"type", "object"},
          {"additionalProperties",
           {{"type", "object"},
            {"properties", {{"data", reference("count")}, {"handshake", reference("count")}}},
            {"required", {"data", "handshake"}}}}};
}

template <class T>
constexpr bool kIsPerReason = false;
template <class E>
constexpr bool kIsPerReason<PerReason<E>> = true;

template <class T>
Json schema_of() {
  if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
  else if constexpr (std::is_same_v<T, std::string>) return {{"type", "string"}};
  else if constexpr (std::is_integral_v<T>) return reference("count");
  else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>)
    return {{"anyOf", {reference("count"), {{"type", "null"}}}}};
  else if constexpr (std::is_same_v<T, double>) return reference("number");
  else if constexpr (std::is_same_v<T, NicUse>) return reference("nic_use");
  else if constexpr (std::is_same_v<T, PerClass<RtoCounts>>) return rtos_schema();
  else if constexpr (kIsPerReason<T>)
    return {{"type", "object"}, {"additionalProperties", reference("count")}};
  else if constexpr (std::is_same_v<T, Statistics> || std::is_same_v<T, std::vector<double>> ||
                     std::is_same_v<T, JobSamples>)
    return reference("statistics");
  else return reference("by_class_and_reason");
}

// -- rows

template <auto... kPath>
Json value_at(const CaseSummary& c) {
  return json_of((c.*....*kPath));
}

/// Returns the member to which the pointers lead.
template <auto... kPath>
constexpr CaseField field(std::string_view place, std::string_view help = "") {
  using T = std::remove_cvref_t<decltype((std::declval<const CaseSummary&>().*....*kPath))>;
  return {place, help, schema_of<T>, value_at<kPath...>};
}

constexpr auto kMetrics = &CaseSummary::metrics;

template <auto... kPath>
constexpr CaseField metric(std::string_view place, std::string_view help = "") {
  return field<kMetrics, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField sample(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::samples, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField cost(std::string_view place, std::string_view help = "") {
  return field<&CaseSummary::background_cost, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField signal(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::signals, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField queue(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::queue, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField learning(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::learning, kPath...>(place, help);
}

constexpr CaseField number(std::string_view place, std::string_view help,
                           Json (*value)(const CaseSummary&)) {
  return {place, help, schema_of<double>, value};
}

constexpr CaseField object(std::string_view place, std::string_view help,
                           bool (*there)(const CaseMetrics&) = nullptr) {
  return {place, help, object_schema, nullptr, there};
}

/// Visits fields(): gives each count to `add`, under its name less the prefix, if it has that.
template <class Add>
struct CountVisitor {
  Add& add;
  std::string_view prefix;

  template <class T>
  void value(const Figure& figure, const T& count) const {
    std::string_view name = figure.field;
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    add(std::string(name), count);
  }
};

/// The object /signals says what the prefixes say.
template <class Add>
void for_each_signal_counter(const SignalCounts& counts, Add add) {
  const CountVisitor<Add> sent{add, ""};
  const CountVisitor<Add> refused{add, "signals_"};
  const CountVisitor<Add> entries{add, "starts_"};
  fields(sent, counts.messages);
  fields(refused, counts.refused);
  fields(entries, counts.regulator);
}

Json signals_of(const CaseSummary& c) {
  Json out = Json::object();
  for_each_signal_counter(c.metrics.signals, [&](const std::string& name, const auto& count) {
    out[name] = json_of(count);
  });
  return out;
}

Json signals_schema() {
  Json schema = object_schema();
  for_each_signal_counter({}, [&](const std::string& name, const auto& count) {
    schema["properties"][name] = schema_of<std::remove_cvref_t<decltype(count)>>();
  });
  return schema;
}

template <class Add>
void for_each_roce_counter(const tg::RoceCounters& counts, Add add) {
  const CountVisitor<Add> all{add, ""};
  fields(all, counts);
}

Json roce_of(const CaseSummary& c) {
  Json out = Json::object();
  for_each_roce_counter(c.metrics.roce, [&](const std::string& name, const auto& count) {
    out[name] = json_of(count);
  });
  return out;
}

Json roce_schema() {
  Json schema = object_schema();
  for_each_roce_counter({}, [&](const std::string& name, const auto& count) {
    schema["properties"][name] = schema_of<std::remove_cvref_t<decltype(count)>>();
  });
  return schema;
}

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

Json completions_of(const CaseSummary& c) {
  std::vector<double> values;
  for (const auto& job : c.metrics.jobs.each) values.push_back(job.completion_seconds);
  return json_of(values);
}

Json each_job(const CaseSummary& c) {
  Json each = Json::array();
  for (const auto& job : c.metrics.jobs.each) {
    Json one{{"name", job.name},
             {"start_seconds", job.start_seconds},
             {"completion_seconds", job.completion_seconds},
             {"iteration_seconds_median", job.iteration_seconds_median},
             {"iteration_seconds_p99", job.iteration_seconds_p99},
             {"communication_seconds_median", job.communication_seconds_median},
             {"communication_seconds_p99", job.communication_seconds_p99},
             {"worker_spread_seconds_mean", job.worker_spread_seconds_mean}};
    if (!job.worst_link.empty()) {
      one["worst_link"] = job.worst_link;
      one["worker_start_queue_packets_mean"] = job.worker_start_queue_packets_mean;
      one["worker_start_queue_total_packets_mean"] = job.worker_start_queue_total_packets_mean;
    }
    each.push_back(std::move(one));
  }
  return each;
}

Json each_job_schema() {
  Json item = object_schema();
  item["properties"]["name"] = {{"type", "string"}};
  for (const char* name :
       {"start_seconds", "completion_seconds", "iteration_seconds_median", "iteration_seconds_p99",
        "communication_seconds_median", "communication_seconds_p99", "worker_spread_seconds_mean"})
    item["properties"][name] = reference("number");
  Json required = Json::array();
  for (const auto& [name, schema] : item["properties"].items()) required.push_back(name);
  item["required"] = std::move(required);
  item["properties"]["worst_link"] = {
      {"type", "string"},
      {"description",
       "only in a fabric: where packets of its bursts waited longest; the next two are of it"}};
  for (const char* name :
       {"worker_start_queue_packets_mean", "worker_start_queue_total_packets_mean"})
    item["properties"][name] = reference("number");
  return {{"type", "array"}, {"items", std::move(item)}};
}

/// A field of a tier of links.
struct TierField {
  const char* name;
  const char* help;
  Json (*schema)();
  Json (*value)(const TierMetrics& t);
};

template <auto kMember>
constexpr TierField tier_field(const char* name, const char* help) {
  return {name, help,
          [] {
            using T = std::remove_cvref_t<decltype(TierMetrics{}.*kMember)>;
            if constexpr (std::is_same_v<T, std::string>) return Json{{"type", "string"}};
            else return reference(std::is_integral_v<T> ? "count" : "number");
          },
          [](const TierMetrics& t) { return Json(t.*kMember); }};
}

constexpr TierField kTierFields[] = {
    tier_field<&TierMetrics::tier>("tier", "the kinds of both ends"),
    tier_field<&TierMetrics::links>("links", "in one direction"),
    tier_field<&TierMetrics::joined>("joined",
                                     "of these, that share the line \"others\" of links.csv"),
    tier_field<&TierMetrics::utilisation_mean>("utilisation_mean", "share of the capacity of all"),
    tier_field<&TierMetrics::utilisation_max>("utilisation_max", "of the busiest"),
    tier_field<&TierMetrics::busiest>("busiest", "its port"),
    tier_field<&TierMetrics::marks>("ce_marks", "packets"),
    tier_field<&TierMetrics::drops>("drops", "packets"),
    tier_field<&TierMetrics::longest_wait>(
        "longest_wait",
        "the port where packets of bursts waited longest; empty: no port here recorded any"),
    tier_field<&TierMetrics::worker_start_queue_packets_mean>(
        "worker_start_queue_packets_mean",
        "background there when the first packet of a worker's burst comes"),
    tier_field<&TierMetrics::worker_start_queue_total_packets_mean>(
        "worker_start_queue_total_packets_mean", "the same, of all classes"),
};

Json tiers_of_links(const CaseSummary& c) {
  Json tiers = Json::array();
  for (const TierMetrics& t : c.metrics.links.tiers) {
    Json one = Json::object();
    for (const TierField& field : kTierFields) one[field.name] = field.value(t);
    tiers.push_back(std::move(one));
  }
  return tiers;
}

Json tiers_of_links_schema() {
  Json item = object_schema();
  for (const TierField& field : kTierFields) {
    Json schema = field.schema();
    schema["description"] = field.help;
    item["properties"][field.name] = std::move(schema);
    item["required"].push_back(field.name);
  }
  return {{"type", "array"}, {"items", std::move(item)}};
}

Json mean_times(const CaseSummary& c) {
  const Attribution& a = c.metrics.attribution;
  Json seconds = Json::object();
  for (std::size_t i = 0; i < kBurstTimes; ++i)
    seconds[std::string(kBurstTimeNames[i])] = a.seconds_sum[i] / static_cast<double>(a.bursts);
  return seconds;
}

Json mean_times_schema() {
  Json schema = object_schema();
  for (const auto name : kBurstTimeNames) {
    schema["properties"][std::string(name)] = reference("number");
    schema["required"].push_back(name);
  }
  return schema;
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
    object("/background_cost", "against the off case, signed"),
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
