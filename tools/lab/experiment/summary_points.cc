#include "tools/lab/experiment/summary_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "tools/lab/experiment/experiment_parameters.h"

namespace outrider::lab {

namespace {

std::string strict_key(const Case& c) {
  return parameters_key(c.parameters, [](std::string_view n) { return !tells_on_from_off(n); });
}

/// Says whether a parameter is a threshold, or how it is judged. Set by an arm it is a remedy: a K
/// or an h of its own. Set by a sweep it is a point, at which all arms have it.
bool is_threshold(std::string_view n) {
  return n == "switch.marker.threshold_packets" || n == "switch.marker.mark_at" || n == "h_packets";
}

/// Says whether a parameter sets a remedy other than the regulator: one of the queues, of the order
/// in which gradients leave, or of their paths. Of the settings of markers those of one kind count;
/// see is_threshold() for the others.
bool is_other_remedy(std::string_view n) {
  static constexpr std::array<std::string_view, 12> kNames{
      "static_pair", "scheduler", "ddl_weight",       "background_floor",
      "queue_room",  "ddl_alpha", "background_alpha", "signal_form",
      "paths",       "protocol",  "layer_classes",    "background_roce_queue"};
  static constexpr std::array<std::string_view, 9> kSettings{
      "switch.marker.",      "job.send_policy",     "job.policy.",
      "job.synchronisation", "job.staleness_bound", "job.r2sp.",
      "ddl.transport.mlt.",  "ddl.transport.roce.", "tensorlights."};
  if (is_threshold(n)) return false;
  return std::ranges::find(kNames, n) != kNames.end() ||
         std::ranges::any_of(kSettings, [n](std::string_view s) { return n.starts_with(s); });
}

std::string loose_key(const Case& c) {
  return parameters_key(c.parameters, [&c](std::string_view n) {
    const bool swept = std::ranges::find(c.swept, n) != c.swept.end();
    return !tells_arms_apart(n) && (swept || !is_threshold(n));
  });
}

std::string with_seed(std::string key, const Case& c, std::string_view rank) {
  return key.append(std::to_string(c.seed)).append(rank);
}

}  // namespace

bool tells_on_from_off(std::string_view parameter) { return is_regulator_parameter(parameter); }

bool tells_arms_apart(std::string_view parameter) {
  return tells_on_from_off(parameter) || is_other_remedy(parameter);
}

std::string text_of(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      std::array<char, 32> text{};
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr};
    }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(std::monostate) const { return "absent"; }
  };
  return std::visit(Visitor{}, value);
}

CasePoints points_of(std::span<const Case* const> cases) {
  std::map<std::string, std::size_t> off;  // first case by key, seed and rank
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = *cases[i];
    if (!c.label.starts_with("off")) continue;
    if (c.label == "off") {
      off.try_emplace(with_seed(strict_key(c), c, " 1"), i);
      off.try_emplace(with_seed(loose_key(c), c, " 2"), i);
    }
    off.try_emplace(with_seed(strict_key(c), c, " 3"), i);
    off.try_emplace(with_seed(loose_key(c), c, " 4"), i);
  }
  CasePoints out;
  std::map<std::string, std::size_t> numbers;
  for (const Case* c : cases) {
    const std::string strict = strict_key(*c), loose = loose_key(*c);
    std::size_t found = cases.size();
    for (const auto& key : {with_seed(strict, *c, " 1"), with_seed(loose, *c, " 2"),
                            with_seed(strict, *c, " 3"), with_seed(loose, *c, " 4")})
      if (const auto it = off.find(key); found == cases.size() && it != off.end())
        found = it->second;
    out.off_case.push_back(found);
    const std::string point = found == cases.size() ? strict : strict_key(*cases[found]);
    out.point.push_back(numbers.try_emplace(point, numbers.size()).first->second);
  }
  return out;
}

}  // namespace outrider::lab
