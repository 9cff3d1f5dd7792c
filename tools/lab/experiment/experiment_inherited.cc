#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "switch/config/queue_config.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Says whether a value does something: 0, "0s", "" and false are how a parameter is left out.
bool is_active(const ConfigValue& v) {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* i = v.as<std::int64_t>()) return *i != 0;
  if (const auto* d = v.as<double>()) return *d != 0;
  if (const auto* s = v.as<std::string>()) {
    const auto duration = parse_duration(*s);
    return !s->empty() && !(duration.value && *duration.value == Duration{});
  }
  return true;
}

bool has_text(const ConfigValue& v, std::string_view text) {
  const auto* s = v.as<std::string>();
  return s != nullptr && *s == text;
}

std::optional<double> as_bytes(const ConfigValue& v) {
  if (const auto* i = v.as<std::int64_t>()) return static_cast<double>(*i);
  const auto* text = v.as<std::string>();
  const auto bytes = parse_bytes(text == nullptr ? std::string_view{} : *text);
  return bytes.value ? std::optional(static_cast<double>(*bytes.value)) : std::nullopt;
}

/// A queue of full frames reaches the limit in packets first.
bool are_fewer_packets(const ConfigValue& own_bytes, const ConfigValue& packets) {
  const auto bytes = as_bytes(own_bytes);
  const auto* number = packets.as<std::int64_t>();
  return bytes && number != nullptr && static_cast<double>(*number) * sw::kFullFrameBytes < *bytes;
}

bool are_fewer_bytes(const ConfigValue& own_packets, const ConfigValue& bytes) {
  const auto limit = as_bytes(bytes);
  const auto* number = own_packets.as<std::int64_t>();
  return limit && number != nullptr && *limit < static_cast<double>(*number) * sw::kFullFrameBytes;
}

/// A value that is given, and another one that makes it something else than it says.
struct Contradiction {
  std::string_view given;
  std::string_view inherited;
  bool (*contradicts)(const ConfigValue& own, const ConfigValue& inherited);
  std::string_view effect;
  /// Arms and sweeps commonly give `inherited` themselves, and then [parameters] says nothing of
  /// it.
  bool of_arms = false;
};

using Value = const ConfigValue&;

constexpr std::array<Contradiction, 10> kContradictions{
    {{"job.model", "job.compute", [](Value, Value v) { return is_active(v); },
      "would replace the time that the model computes; give job.compute = \"0s\" for the model's "
      "time"},
     {"job.burst_bytes", "job.model", [](Value, Value v) { return is_active(v); },
      "says how long bursts are, whatever burst_bytes is; give job.model = \"\" to use "
      "burst_bytes"},
     {"job.period", "job.schedule", [](Value, Value v) { return has_text(v, "closed_loop"); },
      "has no period; give job.schedule = \"fixed\" to use it", true},
     {"job.compute", "job.schedule", [](Value, Value v) { return has_text(v, "fixed"); },
      "does not wait for computing; give job.schedule = \"closed_loop\" to use it", true},
     {"switch.background_queue.floor", "switch.scheduler",
      [](Value, Value v) { return has_text(v, "dwrr"); },
      "shares the link by weights; give switch.scheduler = \"strict_floor\" to use the floor",
      true},
     {"switch.ddl_queue.weight", "switch.scheduler",
      [](Value, Value v) { return has_text(v, "strict_floor"); },
      "serves DDL data first; give switch.scheduler = \"dwrr\" to use the weight", true},
     {"switch.marker.threshold_packets", "switch.marker.kind",
      [](Value, Value v) { return !has_text(v, "step"); },
      "has no threshold; give switch.marker.kind = \"step\" to use it", true},
     {"switch.queue.limit_packets", "switch.queue.limit_bytes", are_fewer_bytes,
      "limits the queue before its packets do; give a larger one to use limit_packets"},
     {"switch.buffer.total_bytes", "switch.queue.limit_packets", are_fewer_packets,
      "limits each queue long before the shared buffer does; give as many packets as it holds"},
     {"switch.queue.limit_bytes", "switch.queue.limit_packets", are_fewer_packets,
      "limits the queue before its bytes do; give a larger one to use limit_bytes"}}};

/// What background may come from. All that are set flow together.
constexpr std::array<std::string_view, 5> kSources{"background.load", "background.flows_per_pair",
                                                   "background.list", "background.capture",
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
  /// Looked up where `inherited` has none; nullptr: another place is asked for these
  const ConfigTable* defaults = nullptr;

  [[nodiscard]] const ConfigValue* own(std::string_view name) const { return find(given, name); }
  /// @return nullptr, too, if it is given
  [[nodiscard]] const ConfigValue* others(std::string_view name) const {
    if (own(name) != nullptr) return nullptr;
    const ConfigValue* value = find(inherited, name);
    return value != nullptr || defaults == nullptr ? value : find(*defaults, name);
  }
  [[nodiscard]] std::string origin_of(std::string_view name) const {
    return find(inherited, name) != nullptr ? "inherited from " + from : "the default";
  }
};

void fault(const Values& v, std::string_view given, std::string_view inherited,
           std::string_view effect, ConfigIssues& issues) {
  const std::string name(inherited);
  issues.push_back({join_key(v.key, given),
                    name + " = " + display(*v.others(inherited)) + ", " + v.origin_of(inherited) +
                        ", " + std::string(effect) + ", or give " + name + " here to keep it"});
}

template <class F>
void for_each_table(const ConfigTable& file, std::string_view key, F f) {
  const ConfigValue* list = file.get(key);
  if (list == nullptr || !is_array_of_tables(*list)) return;
  const auto& tables = *list->as<ConfigValue::Array>();
  for (std::size_t i = 0; i < tables.size(); ++i)
    f(*tables[i].as<ConfigTable>(), join_key("", key, i));
}

/// Returns whether an arm or a sweep gives a value of its own, which replaces an inherited one.
bool is_given_elsewhere(const ConfigTable& file, std::string_view name, bool by_arms) {
  bool any = false;
  const auto look = [&](const ConfigTable& table, const std::string&) {
    any |= find(with_nested_keys(table), name) != nullptr;
  };
  for_each_table(file, "sweep", look);
  if (by_arms) for_each_table(file, "arm", look);
  return any;
}

/// @param file  whose arms and sweeps may have values of their own
void check_contradictions(const Values& v, const ConfigTable& file, ConfigIssues& issues) {
  for (const auto& [given, inherited, contradicts, effect, of_arms] : kContradictions) {
    const ConfigValue *own = v.own(given), *others = v.others(inherited);
    if (own == nullptr || others == nullptr || !is_active(*own) || !contradicts(*own, *others))
      continue;
    if (!of_arms || !is_given_elsewhere(file, inherited, !v.key.starts_with("arm")))
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
      for (const std::string_view flows : {"", "ddl.", "background."})
        if (const std::string setting = std::string(flows) + transport + std::string(name);
            v.others(setting) != nullptr)
          fault(v, stack, setting, "would stay in the place of the stack's own; give the stack's",
                issues);
  }
}

/// A setting of all transports does not reach flows that inherit one of their own.
void check_transports(const Values& v, ConfigIssues& issues) {
  for (const auto& [name, own] : with_dotted_keys(v.given)) {
    if (!name.starts_with("transport.")) continue;
    for (const std::string_view flows : {"ddl.", "background."}) {
      const std::string setting = std::string(flows) + name;
      const ConfigValue* others = v.others(setting);
      if (others != nullptr && *others != own)
        fault(v, name, setting,
              flows == "ddl." ? "would stay what bursts have; give them another one"
                              : "would stay what background has; give it another one",
              issues);
    }
  }
}

/// Returns what holds where no file says it.
ConfigTable default_values() {
  ConfigTable table;
  (void)assign(table, "switch.queue.limit_packets",
               ConfigValue(std::int64_t{sw::QueueConfig{}.limit_packets}));
  (void)assign(table, "job.schedule", ConfigValue(std::string("fixed")));
  (void)assign(table, "switch.scheduler", ConfigValue(std::string("fifo")));
  return table;
}

/// Returns the parameters of a sweep with their values.
std::vector<std::pair<std::string, ConfigValue::Array>> values_of_sweep(const ConfigTable& sweep) {
  std::vector<std::pair<std::string, ConfigValue::Array>> all;
  for (const auto& [name, values] : with_dotted_keys(with_nested_keys(sweep))) {
    const auto* list = values.as<ConfigValue::Array>();
    if (name != "arms" && list != nullptr && !list->empty()) all.emplace_back(name, *list);
  }
  return all;
}

/// Calls `use` with what a sweep gives, once for each value of each of its parameters.
template <class Use>
void for_each_value(const ConfigTable& sweep, Use use) {
  const auto all = values_of_sweep(sweep);
  ConfigTable first;
  for (const auto& [name, values] : all) {
    const auto active = std::ranges::find_if(values, is_active);
    (void)assign(first, name, active == values.end() ? values.front() : *active);
  }
  for (const auto& [name, values] : all)
    for (const ConfigValue& value : values) {
      ConfigTable given = first;
      (void)assign(given, name, value);
      use(given);
    }
}

/// Returns whether a sweep is one of this arm's.
bool is_of_arm(const ConfigTable& sweep, const ConfigTable& arm) {
  const ConfigValue *arms = sweep.get("arms"), *label = arm.get("label");
  const auto* list = arms == nullptr ? nullptr : arms->as<ConfigValue::Array>();
  return list == nullptr || label == nullptr || std::ranges::find(*list, *label) != list->end();
}

}  // namespace

void check_inherited(const ConfigTable& given, const ConfigTable& base, const std::string& name,
                     const ConfigTable& file, ConfigIssues& issues) {
  const Values values{given, base, "parameters", "\"" + name + "\""};
  check_contradictions(values, file, issues);
  check_sources(values, issues);
  check_stacks(values, issues);
  check_transports(values, issues);
}

void check_inherited(const ConfigTable& file, ConfigIssues& issues) {
  static const ConfigTable kDefaults = default_values();
  const ConfigValue* of_file = file.get("parameters");
  const auto* table = of_file == nullptr ? nullptr : of_file->as<ConfigTable>();
  const ConfigTable parameters = table == nullptr ? ConfigTable{} : with_nested_keys(*table);
  check_contradictions({parameters, {}, "parameters", "", &kDefaults}, file, issues);
  const auto check = [&](const ConfigTable& given, const std::string& key) {
    check_contradictions({given, parameters, key, "[parameters]", &kDefaults}, file, issues);
    if (!key.starts_with("job"))  // whose `transport` is that of its bursts
      check_transports({given, parameters, key, "[parameters]"}, issues);
  };
  for (const char* list : {"arm", "job"})
    for_each_table(file, list, [&](const ConfigTable& own, const std::string& key) {
      check(with_nested_keys(own), key);
    });
  for_each_table(file, "sweep", [&](const ConfigTable& sweep, const std::string& key) {
    for_each_value(sweep, [&](const ConfigTable& given) {
      check(given, key);
      for_each_table(file, "arm", [&](const ConfigTable& arm, const std::string& of_arm) {
        if (!is_of_arm(sweep, arm)) return;
        const ConfigTable own = with_nested_keys(arm);
        check_contradictions({given, own, key, of_arm}, file, issues);
        check_transports({given, own, key, of_arm}, issues);
      });
    });
  });
}

}  // namespace outrider::lab
