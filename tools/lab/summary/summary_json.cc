#include <nlohmann/json.hpp>

#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/summary/json_values.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

/// Adds "parameters" and the programs' "settings" to `out`.
void add_parameters(const Parameters& parameters, Json& out) {
  out["parameters"] = out["settings"] = Json::object();
  for (const auto& [name, value] : parameters)
    out[is_setting(name) ? "settings" : "parameters"][name] = parameter_json(value);
}

/// Returns the metrics of a case by their names.
Json metrics_of(const CaseSummary& c) {
  Json out = Json::object();
  const CaseSummary* one[]{&c};
  for (const Metric& m : metrics())
    if (is_there(m, one)) out[std::string(m.name)] = value_of(m, one);
  return out;
}

Json json_of(const CaseSummary& c) {
  Json out{{"label", c.label}};
  add_parameters(c.parameters, out);
  out["seed"] = c.seed;
  out["base_rtt_seconds"] = std::chrono::duration<double>(c.base_rtt).count();
  out["jobs"] = Json::array();
  for (const auto& job : c.jobs)
    out["jobs"].push_back({{"name", job.name}, {"workers", job.workers}, {"servers", job.servers}});
  out["point"] = c.point;
  out["off_case"] = c.baseline ? Json(*c.baseline) : Json(nullptr);
  out["interrupted"] = c.interrupted;
  out["ledger_balanced"] = c.metrics.ledger_balanced;
  out["metrics"] = metrics_of(c);
  return out;
}

/// Returns estimates by the names of what they are of.
Json json_of(const std::vector<ArmMetric>& metrics) {
  Json out = Json::object();
  for (const auto& m : metrics)
    out[m.name] = {{"value", json_of(m.value)}, {"change", json_of(m.change)}};
  return out;
}

Json json_of(const ArmSummary& arm, const std::vector<CaseSummary>& cases) {
  Json seeds = Json::array();
  for (const std::size_t i : arm.cases) seeds.push_back(cases[i].seed);
  Json out{{"label", arm.label}, {"role", name_of(arm.role)}};
  add_parameters(arm.parameters, out);
  out["point"] = arm.point;
  out["seeds"] = std::move(seeds);
  out["cases"] = Json(arm.cases);
  out["metrics"] = json_of(arm.metrics);
  out["off"] = arm.off;
  out["against"] = arm.against;
  out["beside"] = arm.beside;
  out["beside_off"] = arm.beside_off;
  out["against_off"] = json_of(arm.against_off);
  for (const auto& group : arm.groups)
    out["background_groups"].push_back({{"name", group.name}, {"figures", json_of(group.figures)}});
  for (const CollectiveSummary& c : arm.collectives)
    out["collectives"].push_back({{"job", c.job},
                                  {"collective", c.collective},
                                  {"ranks", c.ranks},
                                  {"size_bytes", c.size_bytes},
                                  {"communication_seconds_median", c.seconds},
                                  {"algbw_bits_per_second_median", c.algbw_bits_per_second},
                                  {"busbw_bits_per_second_median", c.busbw_bits_per_second}});
  return out;
}

}  // namespace

std::string to_json(const Summary& summary) {
  Json out{{"schema_version", kSummarySchemaVersion}, {"results_version", summary.version},
           {"experiment", summary.experiment},        {"question", summary.question},
           {"runtime", name_of(summary.runtime)},     {"interrupted", summary.interrupted},
           {"planned_cases", summary.planned_cases}};
  if (summary.quick) out["quick"] = true;
  if (!summary.advice.empty()) out["advice"] = summary.advice;
  for (const char* list : {"warnings", "cases", "arms"}) out[list] = Json::array();
  for (const auto& w : summary.warnings)
    out["warnings"].push_back(
        {{"label", w.label}, {"point", w.point}, {"count", w.count}, {"text", w.text}});
  for (const auto& c : summary.cases) out["cases"].push_back(json_of(c));
  for (const auto& arm : summary.arms) out["arms"].push_back(json_of(arm, summary.cases));
  // Labels and names come from files that may contain any byte.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace outrider::lab
