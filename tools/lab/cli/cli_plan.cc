#include "tools/lab/cli/cli_plan.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "common/config/config_file.h"
#include "common/telemetry/exit_status.h"
#include "switch/config/config_toml.h"
#include "tools/lab/cli/advise_files.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/time_estimate.h"
#include "tools/lab/warnings/advice.h"
#include "tools/lab/warnings/starvation_advice.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

std::string no_case_text(const std::string& filter) {
  return "outrider-lab: no case's name holds \"" + filter + "\"; `outrider-lab plan` lists them";
}

std::string bytes_text(double bytes) {
  char text[32];
  if (bytes < 1e9) std::snprintf(text, sizeof text, "%.0f MB", std::ceil(bytes / 1e6));
  else std::snprintf(text, sizeof text, bytes < 10e9 ? "%.1f GB" : "%.0f GB", bytes / 1e9);
  return text;
}

/// Plans the experiment of a command line case by case, and prints what there is to advise.
/// @param take  gets each arm at each point, see walk_plan()
/// @return the experiment; nothing, after printing a message, on a fault
template <class Take>
std::optional<ExperimentFile> walk(const LabOptions& options, Take take) {
  auto file = load_experiment(options.file);
  if (!file) {
    std::fputs(format_issues(options.file, file.issues).c_str(), stderr);
    return std::nullopt;
  }
  ConfigIssues advised = advice(*file.config);
  bool any = false;
  const auto look = [&](const Case& first, const std::vector<std::string>& names) {
    any = true;
    for (const auto& issue : advice({&first, 1}))
      if (std::ranges::none_of(advised, [&issue](const ConfigIssue& other) {
            return other.key == issue.key && other.problem == issue.problem;
          }))
        advised.push_back(issue);
    take(first, names);
  };
  const ConfigIssues issues = walk_plan(*file.config, plan_options(options), look);
  if (!issues.empty()) {
    std::fputs(format_issues(options.file, issues).c_str(), stderr);
    return std::nullopt;
  }
  if (!any) {
    say(no_case_text(options.filter));
    return std::nullopt;
  }
  std::fputs(format_advice(options.file, advised).c_str(), stderr);
  return std::move(*file.config);
}

/// Says how long the cases take and how much memory, and whether this machine has it.
/// @param starved  background may starve the job of a case
void say_needs(const PlanEstimate& estimate, bool starved) {
  const std::size_t jobs = usable_cpus().size();
  const double each_bytes = static_cast<double>(estimate.memory_bytes());
  const auto seconds = estimate.seconds(jobs);
  say((seconds ? "about " + duration_text(*seconds) : std::string("a time that nobody can tell")) +
      (starved ? ", or many times longer where background starves the job," : "") +
      " in virtual time on " + std::to_string(jobs) + " processes of this machine, " +
      bytes_text(each_bytes) + " of memory each" +
      (estimate.tries_first() ? "" : "; a rough figure, because a case is too large to be tried"));
  const double has_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (each_bytes * static_cast<double>(jobs) <= has_bytes) return;
  const auto fit = static_cast<std::size_t>(has_bytes / each_bytes);
  say("this machine has " + bytes_text(has_bytes) + ": " +
      (fit == 0 ? std::string("no case fits") : "give --jobs " + std::to_string(fit)));
}

/// Says what each group of background sends, and where.
void say_background(const ExperimentFile& file) {
  for (const BackgroundGroup& group : all_groups(file)) say(line_of(group));
}

}  // namespace

PlanOptions plan_options(const LabOptions& options) {
  return {.first_seed = options.first_seed,
          .seeds = options.seeds,
          .filter = options.filter,
          .arms = options.arms,
          .quick = options.quick};
}

std::optional<Planned> plan_cases(const std::string& path, const PlanOptions& options, bool speaks,
                                  const OtherFabric* other) {
  const auto tell = [speaks](const std::string& text) {
    if (speaks) std::fputs(text.c_str(), stderr);
  };
  auto file = load_experiment(path, other);
  if (!file) {
    tell(format_issues(path, file.issues));
    return std::nullopt;
  }
  auto plan = make_plan(*file.config, options);
  if (!plan) {
    tell(format_issues(path, plan.issues));
    return std::nullopt;
  }
  Planned planned{std::move(*file.config), std::move(*plan.config), {}, {}};
  if (planned.cases.empty()) {
    tell(no_case_text(options.filter) + '\n');
    return std::nullopt;
  }
  for (const auto& c : planned.cases) planned.names.push_back(case_name(planned.file, c));
  planned.advised = advice(planned.file);
  planned.advised.add(advice(planned.cases));
  return planned;
}

std::optional<Planned> load(const LabOptions& options, bool speaks) {
  auto planned =
      plan_cases(options.file, plan_options(options), speaks, options.other_fabric.get());
  if (planned && speaks) std::fputs(format_advice(options.file, planned->advised).c_str(), stderr);
  return planned;
}

std::string time_needed(const std::string& path, const PlanOptions& options) {
  constexpr double kMoment_seconds = 0.3;
  const auto file = load_experiment(path);
  if (!file) return "";
  PlanEstimate estimate;
  const auto add = [&estimate](const Case& first, const std::vector<std::string>& names) {
    estimate.add(first, names.size());
  };
  if (!walk_plan(*file.config, options, add).empty()) return "";
  const auto seconds = estimate.seconds(usable_cpus().size(), kMoment_seconds);
  return seconds ? "about " + duration_text(*seconds) : "";
}

int check_command(const LabOptions& options) {
  if (is_for_advise(options.file)) return check_advised(options.file);
  std::size_t cases = 0;
  const auto file = walk(options, [&cases](const Case&, const std::vector<std::string>& names) {
    cases += names.size();
  });
  if (!file) return kExitUsage;
  say_background(*file);
  std::printf("%s: no fault; %zu cases of %zu arms\n", options.file.c_str(), cases,
              file->arms.size());
  return kExitOk;
}

int plan_command(const LabOptions& options) {
  PlanEstimate estimate;
  bool starved = false;
  std::vector<std::string> all;
  std::size_t index = 0;
  const auto file = walk(options, [&](const Case& first, const std::vector<std::string>& names) {
    estimate.add(first, names.size());
    starved = starved || !starvation_advice({&first, 1}).empty();
    if (!options.configs.empty())
      write_configuration(options.configs, index++, first, to_toml(first.switches),
                          to_toml(first.traffic));
    all.insert(all.end(), names.begin(), names.end());
  });
  if (!file) return kExitUsage;
  for (const auto& name : all) std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  say_background(*file);
  say(file->name + ": " + std::to_string(all.size()) + " cases");
  say_needs(estimate, starved);
  return kExitOk;
}

}  // namespace outrider::lab
