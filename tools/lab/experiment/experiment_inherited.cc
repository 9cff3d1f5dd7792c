#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Says whether a value does something: 0, "" and false are how a parameter is left out.
bool is_active(const ConfigValue& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i != 0;
  if (const auto* d = v.as<double>()) return *d != 0;
  if (const auto* s = v.as<std::string>()) return !s->empty();
  return true;
}

bool has_text(const ConfigValue& v, std::string_view text) {
  const auto* s = v.as<std::string>();
  return s != nullptr && *s == text;
}

/// A value that is given, and another one that makes it something else than it says.
struct Contradiction {
  std::string_view given;
  std::string_view inherited;
  bool (*contradicts)(const ConfigValue& inherited);
  std::string_view effect;
};

constexpr std::array<Contradiction, 4> kContradictions{
    {{"model", "compute_seconds", is_active,
      "would replace the time that the model computes; give compute_seconds = 0 for the model's "
      "time"},
     {"burst_bytes", "model", is_active,
      "says how long bursts are, whatever burst_bytes is; give model = \"\" to use burst_bytes"},
     {"period_seconds", "schedule", [](const ConfigValue& v) { return has_text(v, "closed_loop"); },
      "has no period; give schedule = \"fixed\" to use it"},
     {"compute_seconds", "schedule", [](const ConfigValue& v) { return has_text(v, "fixed"); },
      "does not wait for computing; give schedule = \"closed_loop\" to use it"}}};

/// What background may come from. All that are set flow together.
constexpr std::array<std::string_view, 5> kSources{"background_load", "background_flows_per_pair",
                                                   "background_list", "background_capture",
                                                   "requests.connections"};

/// What a stack sets of a transport, see use_stack().
constexpr std::array<std::string_view, 13> kOfStack{
    "loss_detection",    "tail_probe",     "reduction", "ssthresh_base", "lost_retransmission",
    "window_validation", "segment_bursts", "hystart",   "idle_restart",  "rto",
    "timestamps",        "quick_acks",     "max_rto"};

/// Parameters that are given in one place, and those that are inherited from another.
struct Values {
  const ConfigTable& given;
  const ConfigTable& inherited;
  std::string key;   ///< of the place in which they are given
  std::string from;  ///< what they are inherited from, for messages

  [[nodiscard]] const ConfigValue* own(std::string_view name) const { return find(given, name); }
  /// @return nullptr, too, if it is given
  [[nodiscard]] const ConfigValue* others(std::string_view name) const {
    return own(name) != nullptr ? nullptr : find(inherited, name);
  }
};

void fault(const Values& v, std::string_view given, std::string_view inherited,
           std::string_view effect, ConfigIssues& issues) {
  const std::string name(inherited);
  issues.push_back({join_key(v.key, given),
                    name + " = " + display(*v.others(inherited)) + ", inherited from " + v.from +
                        ", " + std::string(effect) + ", or give " + name + " here to keep it"});
}

void check_contradictions(const Values& v, ConfigIssues& issues) {
  for (const auto& [given, inherited, contradicts, effect] : kContradictions) {
    const ConfigValue *own = v.own(given), *others = v.others(inherited);
    if (own != nullptr && others != nullptr && is_active(*own) && contradicts(*others))
      fault(v, given, inherited, effect, issues);
  }
}

void check_sources(const Values& v, ConfigIssues& issues) {
  for (const std::string_view given : kSources)
    for (const std::string_view other : kSources) {
      const ConfigValue *own = v.own(given), *others = v.others(other);
      if (own != nullptr && others != nullptr && is_active(*own) && is_active(*others))
        fault(v, given, other, "would flow beside it; leave it out by 0 or \"\"", issues);
    }
}

void check_stacks(const Values& v, ConfigIssues& issues) {
  for (const char* transport : {"transport.", "ddl.transport.", "background.transport."}) {
    const std::string stack = std::string(transport) + "stack";
    const ConfigValue *own = v.own(stack), *before = find(v.inherited, stack);
    if (own == nullptr || (before != nullptr && *before == *own)) continue;
    for (const std::string_view name : kOfStack)
      if (const std::string setting = transport + std::string(name); v.others(setting) != nullptr)
        fault(v, stack, setting, "would stay in the place of the stack's own; give the stack's",
              issues);
  }
}

/// Returns the values of the points of a sweep that do something, one of each parameter.
ConfigTable values_of_sweep(const ConfigTable& sweep) {
  ConfigTable given;
  const auto take = [&given](const std::string& name, const ConfigValue* values) {
    const auto* list = values == nullptr ? nullptr : values->as<ConfigValue::Array>();
    if (list == nullptr || list->empty()) return;
    const auto active = std::ranges::find_if(*list, is_active);
    (void)assign(given, name, active == list->end() ? list->front() : *active);
  };
  if (const ConfigValue* name = sweep.get("parameter")) {
    if (const auto* text = name->as<std::string>()) take(*text, sweep.get("values"));
    return given;
  }
  for (const auto& [name, values] : with_dotted_keys(sweep))
    if (name != "arms") take(name, &values);
  return given;
}

template <class F>
void for_each_table(const ConfigTable& file, std::string_view key, F f) {
  const ConfigValue* list = file.get(key);
  if (list == nullptr || !is_array_of_tables(*list)) return;
  const auto& tables = *list->as<ConfigValue::Array>();
  for (std::size_t i = 0; i < tables.size(); ++i)
    f(*tables[i].as<ConfigTable>(), join_key("", key, i));
}

}  // namespace

void check_inherited(const ConfigTable& given, const ConfigTable& base, const std::string& name,
                     ConfigIssues& issues) {
  const Values values{given, base, "parameters", "\"" + name + "\""};
  check_contradictions(values, issues);
  check_sources(values, issues);
  check_stacks(values, issues);
}

void check_inherited(const ConfigTable& file, ConfigIssues& issues) {
  const ConfigValue* of_file = file.get("parameters");
  const auto* table = of_file == nullptr ? nullptr : of_file->as<ConfigTable>();
  if (table == nullptr) return;
  const ConfigTable parameters = with_nested_keys(*table);
  const auto check = [&](const ConfigTable& given, const std::string& key) {
    check_contradictions({given, parameters, key, "[parameters]"}, issues);
  };
  for (const char* list : {"arm", "job"})
    for_each_table(file, list, [&](const ConfigTable& own, const std::string& key) {
      check(with_nested_keys(own), key);
    });
  for (const char* list : {"vary", "cross"})
    for_each_table(file, list, [&](const ConfigTable& sweep, const std::string& key) {
      check(values_of_sweep(sweep), key);
    });
}

}  // namespace outrider::lab
