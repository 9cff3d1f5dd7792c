#include "tools/lab/advise/remedy_list.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "common/config/file_kind.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/advise/remedy.h"
#include "tools/lab/experiment/config_literals.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/plan/plan.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

ConfigValue::Array arms_of_file(const fs::path& file) {
  const auto read = read_file_of(file.string(), FileKind::kArms);
  if (!read) throw std::runtime_error(format_issues(file.string(), read.issues));
  const ConfigValue* arms = read.config->get("arm");
  if (arms == nullptr || !is_array_of_tables(*arms))
    throw std::runtime_error(file.string() + " has no [[arm]]");
  return *arms->as<ConfigValue::Array>();
}

const ConfigTable* table_at(const ConfigTable& table, std::string_view key) {
  const ConfigValue* value = table.get(key);
  return value == nullptr ? nullptr : value->as<ConfigTable>();
}

/// Returns the groups of background with these settings of their transport over RoCEv2; nothing if
/// none is over it.
std::optional<ConfigValue> groups_with(const ConfigValue& groups, const ConfigTable& transport) {
  ConfigValue::Array all = *groups.as<ConfigValue::Array>();
  bool any = false;
  for (ConfigValue& one : all) {
    ConfigTable group = with_nested_keys(*one.as<ConfigTable>());
    const ConfigValue* protocol = group.get("protocol");
    if (protocol == nullptr || *protocol != text_value("roce")) continue;
    any = true;
    ConfigTable over;
    over["transport"] = ConfigValue(transport);
    overlay(group, over);
    one = ConfigValue(std::move(group));
  }
  return any ? std::optional(ConfigValue(std::move(all))) : std::nullopt;
}

bool shorthand_over_roce(const ConfigTable& parameters) {
  const ConfigValue* protocol = find(parameters, "background.protocol");
  return protocol != nullptr && *protocol != text_value("tcp");
}

/// Gives the groups of background what an arm says of background's transport. An experiment of
/// groups has no other place for it.
void move_to_groups(ConfigTable& arm, const ConfigTable& experiment) {
  const ConfigTable* background = table_at(arm, "background");
  const ConfigTable* transport =
      background == nullptr ? nullptr : table_at(*background, "transport");
  if (transport == nullptr) return;
  const ConfigValue* groups = experiment.get("background");
  if (groups == nullptr || !is_array_of_tables(*groups)) {
    if (!shorthand_over_roce(*experiment.get("parameters")->as<ConfigTable>()))
      std::erase_if(arm.members, [](const ConfigMember& m) { return m.key == "background"; });
    return;
  }
  auto changed = groups_with(*groups, *transport);
  std::erase_if(arm.members, [](const ConfigMember& m) { return m.key == "background"; });
  if (changed) arm["background"] = std::move(*changed);
}

/// Returns an arm as the experiment may have it.
ConfigTable as_arm(const ConfigValue& written, const ConfigTable& experiment,
                   const AdvisedTraits& traits) {
  ConfigTable arm = with_nested_keys(*written.as<ConfigTable>());
  resolve_quantities(arm, traits);
  move_to_groups(arm, experiment);
  ConfigTable whole = *experiment.get("parameters")->as<ConfigTable>();
  overlay(whole, arm);
  make_room(whole, traits, arm);
  announce_if_heard(experiment, arm);
  if (arm.get("against") == nullptr && *arm.get("label") != text_value("off"))
    arm["against"] = text_value("off");
  return arm;
}

std::string label_of(const ConfigValue& arm) {
  const auto* table = arm.as<ConfigTable>();
  const ConfigValue* label = table == nullptr ? nullptr : table->get("label");
  const auto* text = label == nullptr ? nullptr : label->as<std::string>();
  return text == nullptr ? "" : *text;
}

/// Returns the case of an arm, or the first reason why it cannot be had.
std::pair<std::optional<Case>, std::string> planned(const AdvisedFile& advised,
                                                    const std::string& label,
                                                    const fs::path& conf) {
  const auto e = experiment_from(
      experiment_of(advised, {.name = "advise", .arms = {"off", label}}, conf), "/");
  if (!e) return {std::nullopt, e.issues.front().key + ": " + e.issues.front().problem};
  auto plan = make_plan(*e.config, {.seeds = 1, .arms = {label}});
  if (!plan) return {std::nullopt, plan.issues.front().key + ": " + plan.issues.front().problem};
  const auto found = std::ranges::find(*plan.config, label, &Case::label);
  if (found == plan.config->end()) return {std::nullopt, "is no arm"};
  return {std::move(*found), ""};
}

/// Says whether an arm has a fixed XOFF where today's is dynamic: the two exclude each other, and
/// an arm cannot take back what the file says.
bool sets_other_xoff(const ConfigValue& arm, const ConfigTable& experiment) {
  const auto sets = [](const ConfigTable& table, const char* key) {
    return find(table, std::string("switch.queue.lossless.") + key) != nullptr;
  };
  return sets(*experiment.get("parameters")->as<ConfigTable>(), "xoff_alpha") &&
         sets(*arm.as<ConfigTable>(), "xoff_bytes");
}

/// Says why arms that switch pauses are left out.
void leave_out_pauses(const std::string& labels, UsableArms& usable) {
  if (!labels.empty())
    usable.left_out.push_back(
        labels +
        ": each sets switch.queue.lossless.xoff_bytes, which switch.queue.lossless."
        "xoff_alpha of the file excludes. Give xoff_bytes in its place to compare them");
}

}  // namespace

ConfigValue::Array remedy_arms(const ConfigTable& experiment, const AdvisedTraits& traits,
                               const fs::path& conf) {
  ConfigValue::Array all = *experiment.get("arm")->as<ConfigValue::Array>();
  const auto add = [&](const char* file) {
    for (const ConfigValue& arm : arms_of_file(conf / file))
      if (std::ranges::find(all, label_of(arm), label_of) == all.end()) all.push_back(arm);
  };
  add(traits.roce ? "remedies-roce.toml" : "remedies.toml");
  if (traits.has_order) add("policies.toml");
  for (ConfigValue& arm : all)
    if (arm.as<ConfigTable>() != nullptr) arm = ConfigValue(as_arm(arm, experiment, traits));
  return all;
}

UsableArms usable_arms(const AdvisedFile& advised, const fs::path& conf) {
  UsableArms usable{.labels = {"off"}, .left_out = {}};
  const auto off = planned(advised, "off", conf);
  if (!off.first) throw std::runtime_error("the arm \"off\" cannot be had: " + off.second);
  std::vector<Parameters> have{off.first->parameters};
  std::string with_xoff;
  for (const ConfigValue& arm : remedy_arms(advised.experiment, advised.traits, conf)) {
    const std::string label = label_of(arm);
    if (label == "off") continue;
    if (sets_other_xoff(arm, advised.experiment)) {
      const bool pauses = is_possible({.kind = RemedyKind::kPauses}, advised);
      if (pauses) with_xoff += (with_xoff.empty() ? "" : ", ") + label;
      continue;
    }
    const auto [c, problem] = planned(advised, label, conf);
    if (!c) {
      usable.left_out.push_back(label + ": " + problem);
      continue;
    }
    const RemedyNature nature = nature_of(label, c->parameters, off.first->parameters);
    if (!is_possible(nature, advised)) continue;
    if (std::ranges::find(have, c->parameters) != have.end()) continue;
    have.push_back(c->parameters);
    usable.labels.push_back(label);
  }
  leave_out_pauses(with_xoff, usable);
  return usable;
}

}  // namespace outrider::lab
