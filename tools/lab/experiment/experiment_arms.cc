#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "tools/lab/experiment/display_width.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Stays within the folder that it is put into.
bool is_part_of_a_path(std::string_view text) {
  while (!text.empty())
    if (const char32_t c = take_character(text); c == '/' || is_control_character(c)) return false;
  return true;
}

/// Says whether a label is "off" or "on", or begins with that and a hyphen.
bool begins_with(const std::string& label, const std::string& kind) {
  return label == kind || label.starts_with(kind + '-');
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
  at.require(!begins_with(arm.label, "off") || !begins_with(arm.against, "on"), "against",
             Checks::quoted(arm.against),
             "must be an arm without regulation, as this one is: it would be the regulated arm's "
             "effect, turned round");
}

const Arm* arm_with(const ExperimentFile& e, const std::string& label) {
  const auto it = std::ranges::find(e.arms, label, &Arm::label);
  return it == e.arms.end() ? nullptr : &*it;
}

/// Refuses baselines that lead back to an arm: none of them is one. The first arm of such a ring
/// has the fault.
void check_rings(const Checks& root, const ExperimentFile& e) {
  for (std::size_t i = 0; i < e.arms.size(); ++i) {
    std::string way = Checks::quoted(e.arms[i].label);
    std::size_t first = i, steps = 0;
    const Arm* at = &e.arms[i];
    do {
      at = at->against.empty() ? nullptr : arm_with(e, at->against);
      if (at == nullptr || ++steps > e.arms.size()) break;
      first = std::min(first, static_cast<std::size_t>(at - e.arms.data()));
      way += " -> " + Checks::quoted(at->label);
    } while (at != &e.arms[i]);
    if (at == &e.arms[i] && first == i && steps > 1)
      root.below("arm", i).fault("against", Checks::quoted(e.arms[i].against),
                                 "leads back to the arm itself: " + way +
                                     "; leave one of them out, so that it is compared with "
                                     "\"off\"");
  }
}

}  // namespace

void check_arms(const Checks& root, const ExperimentFile& e) {
  if (e.arms.empty()) root.fault("arm", "there must be at least one [[arm]]");
  std::set<std::string> labels;
  bool any_off = false;
  for (std::size_t i = 0; i < e.arms.size(); ++i) {
    const auto at = root.below("arm", i);
    const auto& arm = e.arms[i];
    const bool off = begins_with(arm.label, "off"), on = begins_with(arm.label, "on");
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
  check_rings(root, e);
  if (!e.arms.empty() && !any_off)
    root.fault("arm",
               "none is \"off\" or begins with \"off-\": gains and costs would be compared "
               "with nothing");
}

}  // namespace outrider::lab
