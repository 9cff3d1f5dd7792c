#include "tools/lab/warnings/job_list_advice.h"

#include <algorithm>
#include <string>

#include "common/config/checks.h"

namespace outrider::lab {
namespace {

bool every_job_gives(const ExperimentFile& e, const std::string& name) {
  return std::ranges::all_of(
      e.jobs, [&name](const ListedJob& job) { return find(job.own, name) != nullptr; });
}

void add_of_arms(const ExperimentFile& e, ConfigIssues& issues) {
  const auto of_file = with_dotted_keys(e.parameters.settings);
  for (const Arm& arm : e.arms) {
    if (std::ranges::find(e.lent_arms, arm.label) != e.lent_arms.end()) continue;
    for (const auto& one : with_dotted_keys(arm.parameters.settings))
      if (every_job_gives(e, one.first) && std::ranges::find(of_file, one) == of_file.end())
        issues.push_back({join_key("arm \"" + arm.label + '"', one.first),
                          "has no effect: every [[job]] gives its own"});
  }
}

/// Warns of sweeps whose points are alike.
void add_of_sweeps(const ExperimentFile& e, ConfigIssues& issues) {
  for (const Sweep& sweep : e.sweeps) {
    if (sweep.points.empty()) continue;
    for (const auto& [name, value] : sweep.points.front())
      if (every_job_gives(e, name))
        issues.push_back(
            {join_key(sweep.key, name),
             "has no effect, so that all points are alike: every [[job]] gives its own"});
  }
}

}  // namespace

ConfigIssues job_list_advice(const ExperimentFile& e) {
  ConfigIssues found;
  if (e.jobs.empty()) return found;
  add_of_arms(e, found);
  add_of_sweeps(e, found);
  return found;
}

}  // namespace outrider::lab
