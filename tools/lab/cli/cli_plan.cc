#include "tools/lab/cli/cli_plan.h"

#include <cstdio>
#include <utility>

#include "common/config/config_file.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/plan/advice.h"

namespace outrider::lab {

PlanOptions plan_options(const LabOptions& options) {
  return {.first_seed = options.first_seed,
          .seeds = options.seeds,
          .filter = options.filter,
          .arms = options.arms,
          .quick = options.quick};
}

std::optional<Planned> plan_cases(const std::string& path, const PlanOptions& options) {
  auto file = load_experiment(path);
  if (!file) {
    std::fputs(format_issues(path, file.issues).c_str(), stderr);
    return std::nullopt;
  }
  auto plan = make_plan(*file.config, options);
  if (!plan) {
    std::fputs(format_issues(path, plan.issues).c_str(), stderr);
    return std::nullopt;
  }
  Planned planned{std::move(*file.config), std::move(*plan.config), {}};
  if (planned.cases.empty()) {
    say("outrider-lab: no case's name holds \"" + options.filter +
        "\"; `outrider-lab plan` lists them");
    return std::nullopt;
  }
  for (const auto& c : planned.cases) planned.names.push_back(case_name(planned.file, c));
  return planned;
}

std::optional<Planned> load(const LabOptions& options) {
  auto planned = plan_cases(options.file, plan_options(options));
  if (planned) std::fputs(format_advice(options.file, advice(planned->cases)).c_str(), stderr);
  return planned;
}

}  // namespace outrider::lab
