#include "tools/lab/summary/case_field_objects.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/lab/summary/case_field_makers.h"
#include "tools/lab/summary/group_figures.h"

namespace outrider::lab::case_field_rows {

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

Json groups_of(const CaseSummary& c) { return groups_json(c.metrics.groups); }
Json groups_schema() { return groups_json_schema(); }

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

}  // namespace outrider::lab::case_field_rows
