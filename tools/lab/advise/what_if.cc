#include "tools/lab/advise/what_if.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "common/config/quantities.h"
#include "tools/lab/advise/scaled.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr double kMostLoad = 0.95;
constexpr double kComputeJitter = 0.2;
constexpr double kDueJitter_periods = 0.05;

struct Factor {
  const char* name;
  const char* text;
  double value;
};
constexpr std::array kFactors{Factor{"twice", "twice the", 2}, Factor{"half", "half the", 0.5}};

WhatIf made(const AdvisedFile& advised, const Factor& by, const std::string& what) {
  return {.name = by.name + ('-' + what), .text = by.text + (' ' + what), .advised = advised};
}

ConfigTable& parameters_of(AdvisedFile& advised) {
  return *advised.experiment["parameters"].as<ConfigTable>();
}

/// Bursts that come earlier or later than their START has said.
WhatIf with_jitter(const AdvisedFile& advised) {
  WhatIf changed{.name = "jitter", .text = {}, .advised = advised};
  std::optional<double> period;
  for_each_of_jobs(changed.advised.experiment, [&period](const ConfigTable& job) {
    if (const double own = seconds_of(job, "period"); own > 0 && !period) period = own;
  });
  if (period && !advised.traits.closed_loop) {
    const std::string jitter = format_duration(from_seconds(*period * kDueJitter_periods));
    changed.text = "due times that jitter by " + jitter;
    changed.parameters = {{"job.due_jitter", text_value(jitter)}};
  } else {
    changed.text = formatted("computing that jitters by %.0f %%", 100 * kComputeJitter);
    changed.parameters = {{"job.compute_jitter", ConfigValue(kComputeJitter)}};
  }
  return changed;
}

/// Multiplies a number or a text of bytes. @return whether it is there
bool multiply(ConfigTable& table, const char* key, double factor) {
  const double now = number_of(table, key, 0);
  if (now <= 0) return false;
  const ConfigValue* value = find(std::as_const(table), key);
  if (value->as<double>() != nullptr) return assign(table, key, ConfigValue(now * factor));
  const auto whole = static_cast<std::int64_t>(std::llround(now * factor));
  return assign(table, key, ConfigValue(std::max<std::int64_t>(whole, 1)));
}

bool multiply_duration(ConfigTable& table, std::string_view key, double factor) {
  if (table.get(key) == nullptr) return false;
  auto* text = table[key].as<std::string>();
  const auto now = text == nullptr ? Parsed<Duration>{} : parse_duration(*text);
  if (!now.value) return false;
  *text = format_duration(
      Duration(static_cast<Duration::rep>(static_cast<double>(now.value->count()) * factor)));
  return true;
}

ConfigTable* table_at(ConfigTable& table, std::string_view key) {
  return table.get(key) == nullptr ? nullptr : table[key].as<ConfigTable>();
}

/// Says whether all loads together stay possible, and multiplies them.
bool change_load(AdvisedFile& advised, double factor) {
  double most = number_of(parameters_of(advised), "background.load", 0);
  if (advised.experiment.get("background") == nullptr ||
      advised.experiment["background"].as<ConfigValue::Array>() == nullptr)
    return most > 0 && most * factor <= kMostLoad &&
           multiply(parameters_of(advised), "background.load", factor);
  auto& groups = *advised.experiment["background"].as<ConfigValue::Array>();
  for (ConfigValue& group : groups) most += number_of(*group.as<ConfigTable>(), "load", 0);
  if (most == 0 || most * factor > kMostLoad) return false;
  for (ConfigValue& group : groups) (void)multiply(*group.as<ConfigTable>(), "load", factor);
  return true;
}

/// Multiplies the round trips. @return false if they cannot be: a file lists the fabric's delays
bool change_rtt(AdvisedFile& advised, double factor) {
  ConfigTable& e = advised.experiment;
  if (ConfigTable* fabric = table_at(e, "fabric")) {
    bool any = false;
    for (const char* key : {"host_delay", "uplink_delay", "core_delay"})
      any |= multiply_duration(*fabric, key, factor);
    return any;
  }
  ConfigTable* network = table_at(e, "network");
  if (network == nullptr || !multiply_duration(*network, "rtt", factor)) return false;
  for (const char* list : {"link", "hosts"}) {
    if (e.get(list) == nullptr) continue;
    auto* entries = e[list].as<ConfigValue::Array>();
    for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i)
      if (auto* entry = (*entries)[i].as<ConfigTable>())
        (void)multiply_duration(*entry, "delay", factor);
  }
  return true;
}

/// Multiplies the buffer, whichever of its sizes the file has. A lossless class keeps its room.
bool change_buffer(AdvisedFile& advised, double factor) {
  ConfigTable& p = parameters_of(advised);
  bool any = false;
  for (const char* key :
       {"switch.queue.limit_packets", "switch.queue.limit_bytes", "switch.buffer.total_bytes"})
    any |= multiply(p, key, factor);
  make_room(ConfigTable(p), advised.traits, p);
  return any;
}

}  // namespace

std::vector<WhatIf> what_ifs(const AdvisedFile& advised) {
  std::vector<WhatIf> all{with_jitter(advised)};
  constexpr std::pair<const char*, bool (*)(AdvisedFile&, double)> kChanges[]{
      {"load", change_load}, {"rtt", change_rtt}, {"buffer", change_buffer}};
  for (const Factor& by : kFactors)
    for (const auto& [what, change] : kChanges) {
      WhatIf one = made(advised, by, what);
      if (!change(one.advised, by.value)) continue;
      const auto traits = traits_of(one.advised.experiment);
      if (!traits) continue;  // its messages are those of an experiment that nobody has written
      one.advised.traits = *traits.config;
      all.push_back(std::move(one));
    }
  return all;
}

}  // namespace outrider::lab
