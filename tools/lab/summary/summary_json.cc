#include <nlohmann/json.hpp>

#include "tools/lab/summary/case_fields.h"
#include "tools/lab/summary/summary.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

constexpr int kSchemaVersion = 1;

// NaN is written as null.

Json json_of(const Parameters& parameters) {
  Json out = Json::object();
  for (const auto& [name, value] : parameters)
    std::visit([&out, &key = name](const auto& v) { out[key] = v; }, value);
  return out;
}

Json json_of(const CaseSummary& c) {
  Json out{{"label", c.label},
           {"parameters", json_of(c.parameters)},
           {"seed", c.seed},
           {"base_rtt_seconds", std::chrono::duration<double>(c.base_rtt).count()},
           {"metrics", case_metrics_json(c)},
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
