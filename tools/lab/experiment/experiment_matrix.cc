#include <charconv>
#include <optional>
#include <string>

#include "common/config/checks.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/label_part.h"

namespace outrider::lab {
namespace {

constexpr std::string_view kMatrix = "matrix";
/// Arms that the regulator's values make: a few short lists would otherwise fill any memory.
constexpr std::size_t kMaxArms = 10'000;

/// Reads a number of seeds, 20 or "1..20". Seeds count from 1; --seed of the command line shifts
/// them.
std::optional<std::int64_t> seeds_of(const ConfigValue& value) {
  if (const auto* number = value.as<std::int64_t>()) return *number;
  const auto* text = value.as<std::string>();
  if (text == nullptr || !text->starts_with("1..")) return std::nullopt;
  std::int64_t last = 0;
  const auto [end, error] = std::from_chars(text->data() + 3, text->data() + text->size(), last);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return last;
}

/// Makes an arm of each combination of the regulator's values, "on-mark-lead_rtts=4", and "off"
/// only once.
class Arms {
 public:
  explicit Arms(const std::vector<ConfigMember>& axes) : axes_(axes) {}

  ConfigValue::Array make() {
    combine(0, {}, {});
    return std::move(arms_);
  }

 private:
  void combine(std::size_t axis, const ConfigTable& so_far, const std::string& label) {
    if (axis == axes_.size()) return add(so_far, label);
    const auto& [name, values] = axes_[axis];
    for (const auto& value : *values.as<ConfigValue::Array>()) {
      ConfigTable arm = so_far;
      arm[name] = value;
      const bool is_mode = name == "regulation";
      const std::string part = (is_mode ? "" : short_name(name) + "=") + label_part(value);
      combine(axis + 1, arm, label + '-' + part);
    }
  }
  /// An arm without regulation ignores the regulator's other values.
  void add(ConfigTable arm, const std::string& label) {
    const auto* mode = arm.get("regulation");
    if (mode != nullptr && *mode == ConfigValue(std::string("off"))) {
      if (has_off_) return;
      has_off_ = true;
      arm = ConfigTable();
      arm["label"] = ConfigValue(std::string("off"));
    } else {
      arm["label"] = ConfigValue("on" + label);
    }
    arms_.emplace_back(std::move(arm));
  }

  const std::vector<ConfigMember>& axes_;
  ConfigValue::Array arms_{};
  bool has_off_ = false;
};

/// The axes of the matrix, sorted by the tables that are made of them.
struct Axes {
  std::vector<ConfigMember> regulator{};
  ConfigTable others{};
};

Axes axes_of(const ConfigTable& matrix, ConfigTable& file, ConfigIssues& issues) {
  Axes axes;
  std::size_t arms = 1;
  for (const auto& [name, value] : with_dotted_keys(matrix)) {
    const std::string key = join_key(kMatrix, name);
    if (name == "seed") {
      const auto seeds = seeds_of(value);
      if (seeds) file["seeds"] = ConfigValue(*seeds);
      else issues.push_back({key, display(value) + R"(: must be a number or "1..N")"});
      continue;
    }
    const auto* values = value.as<ConfigValue::Array>();
    if (values == nullptr || values->empty()) {
      issues.push_back({key, display(value) + ": must be an array of values"});
    } else if (is_regulator_parameter(name)) {
      if (arms * values->size() > kMaxArms) {
        issues.push_back({key, "makes too many arms: there may be " + std::to_string(kMaxArms)});
        continue;
      }
      arms *= values->size();
      axes.regulator.push_back({name, value});
    } else {
      axes.others[name] = value;
    }
  }
  // The mode comes first in labels; the other values qualify it.
  std::stable_partition(axes.regulator.begin(), axes.regulator.end(),
                        [](const auto& axis) { return axis.key == "regulation"; });
  return axes;
}

ConfigValue::Array labels_of(const ConfigTable& file) {
  ConfigValue::Array labels;
  const auto* arms = file.get("arm");
  if (arms == nullptr || !is_array_of_tables(*arms)) return labels;
  for (const auto& arm : *arms->as<ConfigValue::Array>())
    if (const auto* label = arm.as<ConfigTable>()->get("label")) labels.push_back(*label);
  return labels;
}

}  // namespace

MatrixTaken take_matrix(const ConfigTable& as_written, ConfigIssues& issues) {
  MatrixTaken taken{.file = as_written};
  ConfigTable& file = taken.file;
  const auto* found = as_written.get(kMatrix);
  if (found == nullptr) return taken;
  std::erase_if(file.members, [](const ConfigMember& m) { return m.key == kMatrix; });
  const auto* matrix = found->as<ConfigTable>();
  if (matrix == nullptr) {
    issues.push_back({std::string(kMatrix), display(*found) + ": must be a table: [matrix]"});
    return taken;
  }
  Axes axes = axes_of(*matrix, file, issues);
  if (!axes.regulator.empty() && file.get("arm") != nullptr) {
    issues.push_back({join_key(kMatrix, axes.regulator.front().key),
                      "belongs to the [[arm]] tables that this file has"});
  } else if (!axes.regulator.empty()) {
    file["arm"] = ConfigValue(Arms(axes.regulator).make());
    taken.arms_key = "arm[";
  }
  if (axes.others.members.empty()) return taken;
  taken.sweeps_alone = true;
  axes.others["arms"] = ConfigValue(labels_of(file));
  auto* crosses = file.get("cross") == nullptr ? nullptr : &file["cross"];
  auto* list = crosses == nullptr ? nullptr : crosses->as<ConfigValue::Array>();
  if (crosses != nullptr && list == nullptr) return taken;  // the fault is reported elsewhere
  taken.cross_key = join_key("", "cross", list == nullptr ? 0 : list->size());
  if (list != nullptr) list->emplace_back(std::move(axes.others));
  else file["cross"] = ConfigValue(ConfigValue::Array{ConfigValue(std::move(axes.others))});
  return taken;
}

void name_by_matrix(const MatrixTaken& taken, ConfigIssues& issues) {
  ConfigIssues named;
  for (auto& issue : issues) {
    // No value of the regulator's makes an off arm.
    if (issue.key == "arm" && !taken.arms_key.empty()) issue.key = join_key(kMatrix, "regulation");
    for (const std::string& made : {taken.arms_key, taken.cross_key}) {
      if (made.empty() || !issue.key.starts_with(made)) continue;
      issue.key = std::string(kMatrix) + issue.key.substr(issue.key.find(']') + 1);
      break;
    }
    const bool follows = issue.key == join_key(kMatrix, "label");  // follows from the value's fault
    if (!follows) named.push_back(issue);
  }
  named.count_unkept(issues);
  issues = std::move(named);
}

}  // namespace outrider::lab
