#include "switch/runtime/reload_plan.h"

#include <algorithm>

#include "common/config/config_writer.h"
#include "common/config/toml_text.h"
#include "switch/config/config_toml.h"
#include "switch/config/reload_rules.h"
#include "switch/config/switch_settings.h"

namespace outrider::sw {
namespace {

constexpr const char* kAbsent = "absent";

ConfigTable table_of(SwitchProcessConfig config) {
  for (auto& sw : config.switches)
    for (auto& port : sw.ports) {
      if (port.queues.empty()) continue;
      // Only defaults for the queues, each of which is written out in full.
      port.queue = {};
      port.marker = {};
      port.regulation = {};
    }
  ConfigTable table;
  ConfigWriter writer(table);
  describe(writer, config);
  return table;
}

using Changes = std::vector<SettingChange>;

void compare(const ConfigTable& before, const ConfigTable& after, const std::string& path,
             Changes& out);

/// Compares elements by their place. An element that was added or removed is one change.
void compare(const ConfigValue::Array& before, const ConfigValue::Array& after,
             const std::string& path, const std::string& key, Changes& out) {
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string at = join_key(path, key, i);
    if (i >= before.size()) out.push_back({at, kAbsent, to_toml_text(after[i])});
    else if (i >= after.size()) out.push_back({at, to_toml_text(before[i]), kAbsent});
    else compare(*before[i].as<ConfigTable>(), *after[i].as<ConfigTable>(), at, out);
  }
}

void compare(const ConfigValue* before, const ConfigValue* after, const std::string& path,
             const std::string& key, Changes& out) {
  const ConfigValue::Array none;
  const auto tables = [&none](const ConfigValue* v) -> const ConfigValue::Array* {
    if (v == nullptr) return &none;
    return is_array_of_tables(*v) ? v->as<ConfigValue::Array>() : nullptr;
  };
  const ConfigTable empty;
  const auto table = [&empty](const ConfigValue* v) {
    return v == nullptr ? &empty : v->as<ConfigTable>();
  };
  if (tables(before) != nullptr && tables(after) != nullptr)
    return compare(*tables(before), *tables(after), path, key, out);
  if (table(before) != nullptr && table(after) != nullptr)
    return compare(*table(before), *table(after), join_key(path, key), out);
  const auto text = [](const ConfigValue* v) { return v ? to_toml_text(*v) : kAbsent; };
  out.push_back({join_key(path, key), text(before), text(after)});
}

void compare(const ConfigTable& before, const ConfigTable& after, const std::string& path,
             Changes& out) {
  for (const auto& [key, value] : before.members) {
    const ConfigValue* now = after.get(key);
    if (now == nullptr || !(*now == value)) compare(&value, now, path, key, out);
  }
  for (const auto& [key, value] : after.members)
    if (before.get(key) == nullptr) compare(nullptr, &value, path, key, out);
}

/// Adds the key files that have another content under the same name. No secret is shown.
void compare_keys(const SignalConfig& before, const SignalConfig& after, const std::string& path,
                  Changes& out) {
  for (std::size_t g = 0; g < std::min(before.signers.size(), after.signers.size()); ++g) {
    const SignerConfig& was = before.signers[g];
    const SignerConfig& is = after.signers[g];
    for (std::size_t k = 0; k < std::min(was.read_keys.size(), is.read_keys.size()); ++k) {
      const SignalKey& old_key = was.read_keys[k].key;
      const SignalKey& new_key = is.read_keys[k].key;
      if (was.keys[k] != is.keys[k] ||
          (old_key.id == new_key.id && old_key.secret == new_key.secret))
        continue;
      out.push_back({join_key(join_key(path, "signers", g), "keys", k),
                     "key " + std::to_string(old_key.id),
                     "another key, " + std::to_string(new_key.id)});
    }
  }
}

bool learns_of_flows(const RegulationPolicy& policy) {
  return !reloads(policy.mode) || policy.predict.from != PredictFrom::kOff;
}

/// Refuses changes whose rule depends on more than the key of the setting.
void refuse_windows(const SwitchConfig& running, const SwitchConfig& wanted,
                    const std::string& path, ConfigIssues& refused) {
  for (std::size_t p = 0; p < std::min(running.ports.size(), wanted.ports.size()); ++p) {
    const auto& before = running.ports[p];
    const auto& after = wanted.ports[p];
    const std::string at = join_key(path, "port", p);
    const auto was = queues_of(before);
    const auto is = queues_of(after);
    bool windows = false;
    for (std::size_t q = 0; q < std::min(was.size(), is.size()); ++q) {
      const RegulationPolicy& from = was[q].regulation;
      const RegulationPolicy& to = is[q].regulation;
      windows |= rewrites_windows(from.mode);
      if (from.mode == to.mode || !(learns_of_flows(from) || learns_of_flows(to))) continue;
      const std::string queue = before.queues.empty() ? at : join_key(at, "queues", q);
      refused.push_back(
          {queue + ".regulation.mode",
           "cannot change while windows, predictions or steering keep state of flows: restart"});
    }
    if (windows && before.drain_rate != after.drain_rate)
      refused.push_back({at + ".drain_rate", std::string(kWindows.why)});
    if (windows && before.rate_layer != after.rate_layer)
      refused.push_back({at + ".rate_layer", std::string(kWindows.why)});
  }
}

}  // namespace

std::string_view why_fixed(std::string_view key) {
  return switch_settings().reload_rule(without_indices(key)).why;
}

std::vector<SettingChange> changes_between(const SwitchProcessConfig& running,
                                           const SwitchProcessConfig& wanted) {
  std::vector<SettingChange> changes;
  compare(table_of(running), table_of(wanted), "", changes);
  for (std::size_t s = 0; s < std::min(running.switches.size(), wanted.switches.size()); ++s)
    compare_keys(running.switches[s].signals, wanted.switches[s].signals,
                 join_key(join_key("", "switch", s), "signals"), changes);
  return changes;
}

ReloadPlan plan_reload(const SwitchProcessConfig& running, const SwitchProcessConfig& wanted,
                       std::uint32_t mbufs) {
  ReloadPlan plan{changes_between(running, wanted), {}};
  for (const auto& change : plan.changes) {
    const std::string_view why = why_fixed(change.key);
    if (!why.empty())
      plan.refused.push_back(
          {change.key, change.before + " -> " + change.after + ": " + std::string(why)});
  }
  for (std::size_t s = 0; s < std::min(running.switches.size(), wanted.switches.size()); ++s)
    refuse_windows(running.switches[s], wanted.switches[s], join_key("", "switch", s),
                   plan.refused);
  if (const std::uint32_t need = required_mbufs(wanted); plan.refused.empty() && need > mbufs)
    plan.refused.push_back(
        {"mbufs", "the queues' limits and the links' rates need " + std::to_string(need) +
                      " packet buffers; the process has " + std::to_string(mbufs) +
                      " since it started. Restart it, with mbufs = " + std::to_string(need) +
                      " or more, or without mbufs"});
  if (!plan.refused.empty()) plan.changes.clear();
  return plan;
}

}  // namespace outrider::sw
