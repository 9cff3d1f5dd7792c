#include <nlohmann/json.hpp>

#include "tools/lab/summary/compare.h"
#include "tools/lab/summary/json_values.h"

namespace outrider::lab {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

Json json_of(const MetricComparison& m) {
  const Shown shown = shown_in(m.metric->unit);
  return {{"metric", m.metric->tested},
          {"unit", shown.unit},
          {"a", m.a * shown.scale},
          {"b", m.b * shown.scale},
          {"relative", m.relative},
          {"change", json_of(m.change)},
          {"p", m.p},
          {"adjusted_p", m.adjusted},
          {"changed", m.changed}};
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json out{{"schema_version", 1},           {"compared", comparison.compared},
           {"changed", comparison.changed}, {"too_few_seeds", comparison.too_few_seeds},
           {"only_a", comparison.only_a},   {"only_b", comparison.only_b},
           {"arms", Json::array()}};
  for (const auto& arm : comparison.arms) {
    Json one{{"label", arm.label},     {"parameters", Json::object()}, {"seeds_a", arm.seeds_a},
             {"seeds_b", arm.seeds_b}, {"paired", arm.paired},         {"metrics", Json::array()}};
    for (const auto& [name, a, b] : arm.differences) one["parameters"][name] = {{"a", a}, {"b", b}};
    for (const auto& m : arm.metrics) one["metrics"].push_back(json_of(m));
    out["arms"].push_back(std::move(one));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace outrider::lab
