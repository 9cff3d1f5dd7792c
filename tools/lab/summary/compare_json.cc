#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/lab/summary/compare.h"
#include "tools/lab/summary/estimate_json.h"
#include "tools/lab/summary/result_answer.h"

namespace outrider::lab {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

double number_at(const Json& metrics, const std::string& place) {
  const Json::json_pointer pointer(place);
  if (!metrics.contains(pointer) || !metrics.at(pointer).is_number()) return kNotDefined;
  return metrics.at(pointer).get<double>();
}

double value_of_arm(const Json& metrics, std::string_view name) {
  return number_at(metrics, "/" + std::string(name) + "/value/value");
}

SeedValues seed_of(const Json& c) {
  SeedValues seed{.seed = c.at("seed").get<std::uint64_t>(), .values = {}};
  for (const Metric* metric : compared_metrics())
    seed.values.push_back(number_at(c.at("metrics"), place_in_case(*metric)));
  return seed;
}

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

ComparableResult comparable_from_json(const std::string& text) {
  try {
    const Json in = result_from_text(text);
    ComparableResult result{.experiment = in.at("experiment").get<std::string>(),
                            .runtime = in.at("runtime").get<std::string>(),
                            .arms = {},
                            .results_version = in.value("results_version", 1)};
    const Json& cases = in.at("cases");
    for (const auto& arm : in.at("arms")) {
      ComparableArm& out = result.arms.emplace_back();
      out.label = arm.at("label").get<std::string>();
      out.point = arm.at("point").get<std::size_t>();
      for (const char* part : {"parameters", "settings"})
        for (const auto& [name, value] : arm.at(part).items())
          out.parameters.emplace_back(name, value.dump());
      for (const auto& index : arm.at("cases"))
        out.seeds.push_back(seed_of(cases.at(index.get<std::size_t>())));
      for (const Metric* metric : compared_metrics())
        out.values.push_back(value_of_arm(arm.at("metrics"), metric->name));
    }
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(why_no_result(text, error));
  }
}

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
