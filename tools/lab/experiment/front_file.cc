#include "tools/lab/experiment/front_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/label_part.h"

namespace outrider::lab {

namespace {

constexpr std::string_view kFront = "front";
constexpr std::string_view kSystems = "front.system";
constexpr std::uint32_t kMaxCandidates = 10'000;

/// The values in [front] other than its systems.
struct FrontScalars {
  std::uint32_t screening_seeds = FrontSettings{}.screening_seeds;
  std::uint32_t seeds = FrontSettings{}.seeds;
  std::uint32_t report_seeds = FrontSettings{}.report_seeds;
  double reference_time = FrontSettings{}.reference.time;
  double reference_lost = FrontSettings{}.reference.cost;
};

template <class V>
void describe(V& v, FrontScalars& c) {
  v.value("screening_seeds", c.screening_seeds);
  v.value("seeds", c.seeds);
  v.value("report_seeds", c.report_seeds);
  v.value("reference_time", c.reference_time);
  v.share("reference_lost", c.reference_lost);
}

void read_scalars(ConfigTable front, FrontSettings& settings, ConfigIssues& issues) {
  std::erase_if(front.members, [](const ConfigMember& m) { return m.key == "system"; });
  FrontScalars s;
  read_config(front, std::string(kFront), s, issues);
  const Checks at = Checks(issues).below(kFront);
  at.in_range("seeds", s.seeds, 1, 1'000'000);
  at.in_range("report_seeds", s.report_seeds, 1, 1'000'000);
  at.in_range("screening_seeds", s.screening_seeds, 1, std::max(s.seeds, 1U));
  at.require(s.reference_time > 1, "reference_time", std::to_string(s.reference_time),
             "must be above 1, the time of an empty network");
  at.in_interval("reference_lost", s.reference_lost, 0, 1, false);
  settings.screening_seeds = s.screening_seeds;
  settings.seeds = s.seeds;
  settings.report_seeds = s.report_seeds;
  settings.reference = {s.reference_time, s.reference_lost};
}

struct Candidate {
  ConfigTable settings;
  std::string suffix;
};

/// Returns all combinations of the arrays' values; the last array varies fastest.
std::vector<Candidate> combinations(const ConfigTable& system, const std::string& key,
                                    ConfigIssues& issues) {
  std::vector<Candidate> all{{}};
  for (const auto& [name, value] : with_dotted_keys(system)) {
    if (name == "label" || name == "ours") continue;
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

/// Reads the name of a system; returns nothing, with a fault recorded, if it has no usable one.
std::optional<FrontSystem> named_system(const ConfigTable& table, const std::string& key,
                                        ConfigIssues& issues) {
  const auto* label = table.get("label");
  const auto* text = label == nullptr ? nullptr : label->as<std::string>();
  if (text == nullptr || text->empty()) {
    issues.push_back({join_key(key, "label"), "is required, a string"});
    return std::nullopt;
  }
  FrontSystem system{.label = *text};
  if (const auto* ours = table.get("ours")) {
    if (const auto* flag = ours->as<bool>()) system.ours = *flag;
    else issues.push_back({join_key(key, "ours"), display(*ours) + ": must be true or false"});
  }
  return system;
}

void add_system(const ConfigTable& table, const std::string& key, FrontTaken& taken,
                ConfigValue::Array& arms, ConfigIssues& issues) {
  auto system = named_system(table, key, issues);
  if (!system) return;
  for (const auto& known : taken.settings.systems)
    if (known.label == system->label)
      issues.push_back({join_key(key, "label"), Checks::quoted(system->label) + ": is used twice"});
  for (auto& candidate : combinations(table, key, issues)) {
    const auto* mode = find(with_nested_keys(candidate.settings), "switch.regulation.mode");
    const bool off = mode == nullptr || *mode == ConfigValue(std::string("off"));
    const std::string label = (off ? "off-" : "on-") + system->label + candidate.suffix;
    candidate.settings["label"] = ConfigValue(label);
    arms.emplace_back(std::move(candidate.settings));
    system->arms.push_back(label);
    taken.keys_of_arms.push_back(key);
  }
  taken.settings.systems.push_back(std::move(*system));
}

}  // namespace

FrontTaken take_front(const ConfigTable& as_written, ConfigIssues& issues) {
  FrontTaken taken{.file = as_written};
  const auto* found = as_written.get(kFront);
  if (found == nullptr) return taken;
  taken.present = true;
  std::erase_if(taken.file.members, [](const ConfigMember& m) { return m.key == kFront; });
  const auto* front = found->as<ConfigTable>();
  if (front == nullptr) {
    issues.push_back({std::string(kFront), display(*found) + ": must be a table: [front]"});
    return taken;
  }
  read_scalars(*front, taken.settings, issues);
  const auto* systems = front->get("system");
  if (systems == nullptr || !is_array_of_tables(*systems)) {
    issues.push_back({std::string(kSystems), "there must be at least one [[front.system]]"});
    return taken;
  }
  ConfigValue::Array arms;
  const auto* written = taken.file.get("arm");
  if (written != nullptr && is_array_of_tables(*written)) arms = *written->as<ConfigValue::Array>();
  taken.first_arm = arms.size();
  const auto& tables = *systems->as<ConfigValue::Array>();
  for (std::size_t i = 0; i < tables.size(); ++i)
    add_system(*tables[i].as<ConfigTable>(), join_key("", kSystems, i), taken, arms, issues);
  if (!arms.empty()) taken.file["arm"] = ConfigValue(std::move(arms));
  return taken;
}

void name_by_front(const FrontTaken& taken, ConfigIssues& issues) {
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

ConfigResult<FrontFile> load_front(const std::string& path) {
  auto file = read_file_of(path, FileKind::kExperiment);
  if (!file) return {{}, std::move(file.issues)};
  auto experiment = experiment_from(*file.config, std::filesystem::path(path).parent_path());
  if (!experiment) return {{}, std::move(experiment.issues)};
  ConfigIssues issues;
  FrontTaken taken = take_front(*file.config, issues);
  if (!taken.present)
    issues.push_back({std::string(kFront), "is required: [front] and [[front.system]]"});
  const auto& arms = experiment.config->arms;
  if (std::ranges::find(arms, "off", &Arm::label) == arms.end())
    issues.push_back(
        {"arm", "there must be one with label = \"off\": what background loses is against it"});
  if (!experiment.config->sweeps.empty())
    issues.push_back({std::string(kFront),
                      "cannot be combined with [[vary]], [[cross]] or points of a [matrix]: a "
                      "front has one point"});
  if (!issues.empty()) return {{}, std::move(issues)};
  return {FrontFile{std::move(*experiment.config), std::move(taken.settings)}, {}};
}

}  // namespace outrider::lab
