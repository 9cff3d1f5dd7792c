#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "common/core/display_width.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Stays within the folder that it is put into.
bool is_part_of_a_path(std::string_view text) {
  while (!text.empty())
    if (const char32_t c = take_character(text); c == '/' || is_control_character(c)) return false;
  return true;
}

void check_against(const Checks& at, const ExperimentFile& e, const Arm& arm) {
  if (arm.against.empty()) return;
  std::vector<std::string_view> labels;
  for (const auto& other : e.arms)
    if (other.label != arm.label) labels.emplace_back(other.label);
  at.require(arm.label != "off", "against", Checks::quoted(arm.against),
             "must be left out: all others are compared with \"off\"");
  at.require(std::ranges::find(labels, arm.against) != labels.end(), "against",
             Checks::quoted(arm.against),
             "no other [[arm]] has this label" + suggestion(arm.against, labels));
}

}  // namespace

void check_arms(const Checks& root, const ExperimentFile& e) {
  if (e.arms.empty()) root.fault("arm", "there must be at least one [[arm]]");
  std::set<std::string> labels;
  bool any_off = false;
  for (std::size_t i = 0; i < e.arms.size(); ++i) {
    const auto at = root.below("arm", i);
    const auto& arm = e.arms[i];
    const bool off = arm.label == "off" || arm.label.starts_with("off-");
    const bool on = arm.label == "on" || arm.label.starts_with("on-");
    at.require(labels.insert(arm.label).second, "label", Checks::quoted(arm.label),
               "is used twice");
    if (!at.require(off || on, "label", Checks::quoted(arm.label),
                    R"(must be "off" or "on", or begin with "off-" or "on-")"))
      continue;
    at.require(
        is_part_of_a_path(arm.label), "label", Checks::quoted(arm.label),
        "must not contain a slash, a control character or a mark that turns the direction of "
        "writing: it names a folder of the results");
    const bool regulated =
        arm.parameters.regulation != RegulationMode::kOff || grants_bursts(arm.parameters.settings);
    check_against(at, e, arm);
    at.require(on == regulated, "label", Checks::quoted(arm.label),
               on ? "needs a regulation other than \"off\", or switch.regulation.grant.order"
                  : "needs regulation \"off\" and no switch.regulation.grant.order");
    any_off |= off;
  }
  if (!e.arms.empty() && !any_off)
    root.fault("arm",
               "none is \"off\" or begins with \"off-\": gains and costs would be compared "
               "with nothing");
}

}  // namespace outrider::lab
