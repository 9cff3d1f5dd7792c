#include "tools/lab/plan/advice.h"

#include <algorithm>
#include <string>

#include "switch/config/regulation_config.h"

namespace outrider::lab {
namespace {

void add(ConfigIssues& found, const std::string& label, const ConfigIssue& of_policy) {
  const ConfigIssue issue{"arm \"" + label + "\"", of_policy.key + ": " + of_policy.problem};
  const bool known = std::ranges::any_of(found, [&issue](const ConfigIssue& other) {
    return other.key == issue.key && other.problem == issue.problem;
  });
  if (!known) found.push_back(issue);
}

}  // namespace

ConfigIssues advice(std::span<const Case> cases) {
  ConfigIssues found;
  for (const Case& c : cases) {
    if (c.switches.switches.empty() || c.switches.switches.front().ports.empty()) continue;
    const RegulationPolicy& policy = c.switches.switches.front().ports.front().regulation;
    for (const auto& issue : advice(policy)) add(found, c.label, issue);
  }
  return found;
}

}  // namespace outrider::lab
