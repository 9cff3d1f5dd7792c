#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/suggestion.h"
#include "common/telemetry/display_width.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Stays within the folder that it is put into.
bool is_part_of_a_path(std::string_view text) {
  while (!text.empty())
    if (const char32_t c = take_character(text); c == '/' || is_control_character(c)) return false;
  return true;
}

/// Returns the arm that all of a point are compared with, as its label does not depend on it.
const Arm* first_baseline(const ExperimentFile& e) {
  const auto it = std::ranges::find(e.arms, ArmRole::kBaseline, role_of);
  return it == e.arms.end() ? nullptr : &*it;
}

void check_against(const Checks& at, const ExperimentFile& e, const Arm& arm) {
  if (arm.against.empty()) return;
  std::vector<std::string_view> labels;
  for (const auto& other : e.arms)
    if (other.label != arm.label) labels.emplace_back(other.label);
  at.require(&arm != first_baseline(e), "against", Checks::quoted(arm.against),
             "must be left out: all others are compared with this arm, the first baseline");
  if (!at.require(std::ranges::find(labels, arm.against) != labels.end(), "against",
                  Checks::quoted(arm.against),
                  "no other [[arm]] has this label" + suggestion(arm.against, labels)))
    return;
  const auto other = std::ranges::find(e.arms, arm.against, &Arm::label);
  at.require(role_of(arm) == ArmRole::kRemedy || role_of(*other) == ArmRole::kBaseline, "against",
             Checks::quoted(arm.against),
             "must be a baseline, as this arm is one: it would be the remedy's effect, turned "
             "round");
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
      root.below("arm", i).fault(
          "against", Checks::quoted(e.arms[i].against),
          "leads back to the arm itself: " + way + "; leave one of them out");
  }
}

}  // namespace

ArmRole role_of(const Arm& arm) {
  return arm.role.value_or(arm.parameters.programs().regulates() ? ArmRole::kRemedy
                                                                 : ArmRole::kBaseline);
}

void check_arms(const Checks& root, const ExperimentFile& e) {
  if (e.arms.empty())
    root.fault("arm",
               "there must be at least one [[arm]]; a base lends its arms only to a file without "
               "[[sweep]], rivals and [search], and only if it has none of these itself; "
               "`outrider-lab advise` reads a file without");
  std::set<std::string> labels;
  for (std::size_t i = 0; i < e.arms.size(); ++i) {
    const auto at = root.below("arm", i);
    const auto& arm = e.arms[i];
    at.require(labels.insert(arm.label).second, "label", Checks::quoted(arm.label),
               "is used twice");
    at.require(!arm.label.empty() && arm.label != "rivals", "label", Checks::quoted(arm.label),
               "must be another text: \"rivals\" stands for the arms of a file");
    at.require(
        is_part_of_a_path(arm.label), "label", Checks::quoted(arm.label),
        "must not contain a slash, a control character or a mark that turns the direction of "
        "writing: it names a folder of the results");
    check_against(at, e, arm);
  }
  check_rings(root, e);
  if (!e.arms.empty() && first_baseline(e) == nullptr)
    root.fault("arm",
               "none is a baseline: gains and costs would be compared with nothing; add an [[arm]] "
               "without a regulation, or give one role = \"baseline\"");
}

}  // namespace outrider::lab
