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

std::optional<Planned> plan_cases(const std::string& path, const PlanOptions& options,
                                  bool speaks) {
  const auto tell = [speaks](const std::string& text) {
    if (speaks) std::fputs(text.c_str(), stderr);
  };
  auto file = load_experiment(path);
  if (!file) {
    tell(format_issues(path, file.issues));
    return std::nullopt;
  }
  auto plan = make_plan(*file.config, options);
  if (!plan) {
    tell(format_issues(path, plan.issues));
    return std::nullopt;
  }
  Planned planned{std::move(*file.config), std::move(*plan.config), {}};
  if (planned.cases.empty()) {
    tell("outrider-lab: no case's name holds \"" + options.filter +
         "\"; `outrider-lab plan` lists them\n");
    return std::nullopt;
  }
  for (const auto& c : planned.cases) planned.names.push_back(case_name(planned.file, c));
  return planned;
}

std::optional<Planned> load(const LabOptions& options, bool speaks) {
  auto planned = plan_cases(options.file, plan_options(options), speaks);
  if (planned && speaks)
    std::fputs(format_advice(options.file, advice(planned->cases)).c_str(), stderr);
  return planned;
}

}  // namespace outrider::lab
