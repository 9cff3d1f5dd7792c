#include "tools/lab/experiment/search_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/suggestion.h"

namespace outrider::lab {

namespace {

/// Returns a setting's value as a part of an arm's label: "strict", "0.05", "true".
std::string label_part(const ConfigValue& value) {
  const auto* text = value.as<std::string>();
  std::string part = text != nullptr ? *text : display(value);
  std::ranges::replace_if(
      part, [](char c) { return c == ' ' || c == '/'; }, '-');
  return part;
}

/// Returns the last component of a setting's name, which keeps labels short: "floor" for
/// "switch.regulation.window.floor".
std::string short_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

constexpr std::string_view kFamilies = "search.family";
constexpr std::string_view kArms = "arms";
constexpr std::uint32_t kMaxCandidates = 10'000;

/// Keys of [search] that one pick alone reads.
struct KeyOfPick {
  std::string_view key;
  SearchPick pick;
};
constexpr std::array<KeyOfPick, 5> kKeysOfPicks{{{"objective", SearchPick::kBest},
                                                 {"cheap", SearchPick::kBest},
                                                 {"spared", SearchPick::kBest},
                                                 {"reference_time", SearchPick::kFront},
                                                 {"reference_lost", SearchPick::kFront}}};

/// Reads the values in [search] other than its families.
void read_scalars(ConfigTable search, SearchSettings& s, ConfigIssues& issues) {
  std::erase_if(search.members, [](const ConfigMember& m) { return m.key == "family"; });
  read_config(search, std::string(kSearch), s, issues);
  const Checks at = Checks(issues).below(kSearch);
  if (search.get("pick") == nullptr) at.fault("pick", "is required: \"front\" or \"best\"");
  for (const auto& [key, pick] : kKeysOfPicks)
    if (search.get(key) != nullptr && search.get("pick") != nullptr && pick != s.pick)
      at.fault(key,
               "has an effect with pick = " +
                   Checks::quoted(
                       std::ranges::find(kSearchPicks, pick, &Choice<SearchPick>::value)->name) +
                   " alone");
  // The seeds that verify begin behind these.
  at.in_range("screening_seeds", s.screening_seeds, 1, 1000);
  at.in_range("verifying_seeds", s.verifying_seeds, 1, 1'000'000);
  if (s.narrowing_seeds != 0)
    at.in_range("narrowing_seeds", s.narrowing_seeds, std::max(s.screening_seeds, 1U), 1000);
  at.require(s.narrow_enough >= 0 && s.narrow_enough < 1, "narrow_enough",
             std::to_string(s.narrow_enough), "must be from 0, which is never, to below 1");
  at.require(s.rule.spared >= 1, "spared", std::to_string(s.rule.spared),
             "must be 1 or more: the baseline itself spares short flows");
  at.require(s.reference.time > 1, "reference_time", std::to_string(s.reference.time),
             "must be above 1, the time of an empty network");
  at.in_interval("reference_lost", s.reference.cost, 0, 1, false);
}

struct Candidate {
  ConfigTable settings;
  std::string suffix;
};

/// Says whether a key is one of the family itself, not a parameter.
bool is_of_family(std::string_view name) {
  return name == "label" || name == "ours" || name == kArms;
}

/// Returns all combinations of the arrays' values; the last array varies fastest.
std::vector<Candidate> combinations(const ConfigTable& family, const std::string& key,
                                    ConfigIssues& issues) {
  std::vector<Candidate> all{{}};
  for (const auto& [name, value] : with_dotted_keys(family)) {
    if (is_of_family(name)) continue;
    const auto* values = value.as<ConfigValue::Array>();
    if (values != nullptr && (values->empty() || all.size() * values->size() > kMaxCandidates)) {
      issues.push_back({join_key(key, name), values->empty() ? "must not be an empty array"
                                                             : "makes too many candidates"});
      continue;
    }
    std::vector<Candidate> extended;
    for (const auto& so_far : all) {
      const std::size_t count = values == nullptr ? 1 : values->size();
      for (std::size_t i = 0; i < count; ++i) {
        Candidate next = so_far;
        next.settings[name] = values == nullptr ? value : (*values)[i];
        if (values != nullptr)
          next.suffix += '-' + short_name(name) + '=' + label_part((*values)[i]);
        extended.push_back(std::move(next));
      }
    }
    all = std::move(extended);
  }
  return all;
}

/// Reads the name of a family; returns nothing, with a fault recorded, if it has no usable one.
std::optional<SearchFamily> named_family(const ConfigTable& table, const std::string& key,
                                         ConfigIssues& issues) {
  const auto* label = table.get("label");
  const auto* text = label == nullptr ? nullptr : label->as<std::string>();
  if (text == nullptr || text->empty()) {
    issues.push_back({join_key(key, "label"), "is required, a string"});
    return std::nullopt;
  }
  SearchFamily family{.label = *text};
  if (const auto* ours = table.get("ours")) {
    if (const auto* flag = ours->as<bool>()) family.ours = *flag;
    else issues.push_back({join_key(key, "ours"), display(*ours) + ": must be true or false"});
  }
  return family;
}

/// Reads the labels of the arms that a family names, in the place of parameters.
void read_arms(const ConfigTable& table, const std::string& key, SearchFamily& family,
               ConfigIssues& issues) {
  family.listed = true;
  for (const auto& [name, value] : with_dotted_keys(table)) {
    if (is_of_family(name) && name != kArms) continue;
    const auto* labels = name == kArms ? value.as<ConfigValue::Array>() : nullptr;
    if (name != kArms)
      issues.push_back({join_key(key, name),
                        "cannot stand beside arms: a family names arms, or "
                        "has parameters that make them"});
    else if (labels == nullptr || labels->empty())
      issues.push_back({join_key(key, kArms), display(value) + ": must be a list of labels"});
    else
      for (const auto& label : *labels)
        if (const auto* text = label.as<std::string>()) family.arms.push_back(*text);
        else issues.push_back({join_key(key, kArms), display(label) + ": must be a label"});
  }
}

/// Makes an arm of each combination of a family's values.
void make_arms(const ConfigTable& table, const std::string& key, SearchFamily& family,
               SearchTaken& taken, ConfigValue::Array& arms, ConfigIssues& issues) {
  for (auto& candidate : combinations(table, key, issues)) {
    const std::string label = family.label + candidate.suffix;
    candidate.settings["label"] = ConfigValue(label);
    arms.emplace_back(std::move(candidate.settings));
    family.arms.push_back(label);
    taken.keys_of_arms.push_back(key);
  }
}

void add_family(const ConfigTable& table, const std::string& key, SearchTaken& taken,
                ConfigValue::Array& arms, ConfigIssues& issues) {
  auto family = named_family(table, key, issues);
  if (!family) return;
  for (const auto& known : taken.settings.families)
    if (known.label == family->label)
      issues.push_back({join_key(key, "label"), Checks::quoted(family->label) + ": is used twice"});
  if (table.get(kArms) != nullptr) read_arms(table, key, *family, issues);
  else make_arms(table, key, *family, taken, arms, issues);
  taken.settings.families.push_back(std::move(*family));
}

}  // namespace

void describe(Settings& v, SearchSettings& s) {
  v.choice("pick", s.pick, kSearchPicks);
  v.value("screening_seeds", s.screening_seeds);
  v.value("narrowing_seeds", s.narrowing_seeds);
  v.value("verifying_seeds", s.verifying_seeds);
  v.share("narrow_enough", s.narrow_enough);
  v.value("objective", s.objective);
  v.value("cheap", s.rule.cheap);
  v.value("spared", s.rule.spared);
  v.value("reference_time", s.reference.time);
  v.share("reference_lost", s.reference.cost);
}

SearchTaken take_search(const ConfigTable& as_written, ConfigIssues& issues) {
  SearchTaken taken{.file = as_written};
  const auto* found = as_written.get(kSearch);
  if (found == nullptr) return taken;
  taken.present = true;
  std::erase_if(taken.file.members, [](const ConfigMember& m) { return m.key == kSearch; });
  const auto* search = found->as<ConfigTable>();
  if (search == nullptr) {
    issues.push_back({std::string(kSearch), display(*found) + ": must be a table: [search]"});
    return taken;
  }
  read_scalars(*search, taken.settings, issues);
  const auto* families = search->get("family");
  if (families == nullptr || !is_array_of_tables(*families)) {
    issues.push_back({std::string(kFamilies), "there must be at least one [[search.family]]"});
    return taken;
  }
  ConfigValue::Array arms;
  const auto* written = taken.file.get("arm");
  if (written != nullptr && is_array_of_tables(*written)) arms = *written->as<ConfigValue::Array>();
  taken.first_arm = arms.size();
  const auto& tables = *families->as<ConfigValue::Array>();
  for (std::size_t i = 0; i < tables.size(); ++i)
    add_family(*tables[i].as<ConfigTable>(), join_key("", kFamilies, i), taken, arms, issues);
  if (!arms.empty()) taken.file["arm"] = ConfigValue(std::move(arms));
  return taken;
}

void use_search(const SearchTaken& search, ExperimentFile& e, ConfigIssues& issues) {
  if (!search.present) return;
  e.search = search.settings;
  const auto own =
      e.arms.begin() + static_cast<std::ptrdiff_t>(std::min(search.first_arm, e.arms.size()));
  const auto first = std::find_if(
      e.arms.begin(), own, [](const Arm& arm) { return role_of(arm) == ArmRole::kBaseline; });
  if (first != own) e.search->baseline = first->label;
  std::set<std::string> taken;
  const auto& families = e.search->families;
  for (std::size_t i = 0; i < families.size(); ++i)
    for (const std::string& label : families[i].arms) {
      const std::string key = join_key(join_key("", kFamilies, i), kArms);
      if (families[i].listed && std::ranges::find(e.arms, label, &Arm::label) == e.arms.end())
        issues.push_back({key, Checks::quoted(label) + ": is no arm of this file or its rivals"});
      else if (label == e.search->baseline)
        issues.push_back({key, Checks::quoted(label) + ": is the baseline, and of no family"});
      else if (!taken.insert(label).second)
        issues.push_back({key, Checks::quoted(label) + ": is in two families"});
    }
}

void name_by_search(const SearchTaken& taken, ConfigIssues& issues) {
  ConfigIssues named;
  for (auto& issue : issues) {
    for (std::size_t i = 0; i < taken.keys_of_arms.size(); ++i) {
      const std::string made = join_key("", "arm", taken.first_arm + i);
      if (!issue.key.starts_with(made)) continue;
      issue.key = taken.keys_of_arms[i] + issue.key.substr(made.size());
      break;
    }
    named.push_back(issue);
  }
  named.count_unkept(issues);
  issues = std::move(named);
}

ConfigResult<SearchFile> load_search(const std::string& path) {
  auto experiment = load_experiment(path);
  if (!experiment) return {{}, std::move(experiment.issues)};
  ExperimentFile& e = *experiment.config;
  ConfigIssues issues;
  if (!e.search)
    issues.push_back({std::string(kSearch), "is required: [search] and [[search.family]]"});
  if (e.search && e.search->baseline.empty())
    issues.push_back({"arm",
                      "there must be a baseline, an [[arm]] of no family: gains and costs are "
                      "against the first one"});
  if (!e.sweeps.empty())
    issues.push_back(
        {std::string(kSearch), "cannot be combined with [[sweep]]: a search has one point"});
  if (!issues.empty()) return {{}, std::move(issues)};
  SearchSettings settings = *e.search;
  return {SearchFile{std::move(e), std::move(settings)}, {}};
}

}  // namespace outrider::lab
