#include <algorithm>
#include <array>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "tools/lab/experiment/background_groups.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {
namespace {

/// Keys of [parameters] that mean something for a job alone; one that ends with a dot stands for
/// all settings below it.
constexpr std::array<std::string_view, 15> kKeysOfJobs{"job.",
                                                       "ddl.",
                                                       "h_packets",
                                                       "workers",
                                                       "servers",
                                                       "jobs",
                                                       "placement",
                                                       "job_offset",
                                                       "job_h_step_packets",
                                                       "job_burst_factor",
                                                       "compute_spread",
                                                       "worker_rate_spread",
                                                       "learner_rate",
                                                       "skip_iterations",
                                                       "warm_up_seconds"};

constexpr const char* kNoJob =
    "needs a job, and the file has none: neither [job] nor [[job]], and no [[hosts]] with count = "
    "\"workers\"";

bool is_of_jobs(std::string_view key) {
  return std::ranges::any_of(kKeysOfJobs, [key](std::string_view own) {
    return own.ends_with('.') ? key.starts_with(own) : key == own;
  });
}

bool counts_hosts_of_jobs(const ConfigTable& file) {
  bool any = false;
  for_each_table(file, "hosts", [&any](const ConfigTable& group, std::size_t) {
    const ConfigValue* count = group.get("count");
    any |= count != nullptr && count->as<std::string>() != nullptr;
  });
  return any;
}

bool sends_a_list(const CaseParameters& p) {
  return !p.programs().flows.list.empty() ||
         std::ranges::any_of(p.groups, [](const BackgroundGroup& g) { return !g.list.empty(); });
}

}  // namespace

bool is_without_job(const ConfigTable& file) {
  return file.get("job") == nullptr && !counts_hosts_of_jobs(file);
}

void refuse_settings_of_jobs(const ConfigTable& as_written, ConfigIssues& issues) {
  const auto refuse = [&issues](const ConfigTable& table, const std::string& path) {
    for (const auto& [key, value] : with_dotted_keys(with_nested_keys(table)))
      if (is_of_jobs(key)) Checks(issues, path).fault(key, display(value), kNoJob);
  };
  refuse(table_in(as_written, "parameters"), "parameters");
  for (const char* list : {"arm", "sweep"})
    for_each_table(as_written, list, [&](const ConfigTable& table, std::size_t i) {
      refuse(table, join_key("", list, i));
    });
}

void check_without_job(const Checks& root, const ExperimentFile& e, const ConfigTable& file) {
  if (e.for_advise) root.fault("goal", kNoJob);
  if (file.get("search") != nullptr) root.fault("search", kNoJob);
  const auto regulates = [](const CaseParameters& p) { return p.programs().regulates(); };
  if (regulates(e.parameters)) root.fault("parameters.switch.regulation", kNoJob);
  for (std::size_t i = 0; i < e.arms.size(); ++i)
    if (regulates(e.arms[i].parameters) && !regulates(e.parameters))
      root.below("arm", i).fault("switch.regulation", kNoJob);
  const auto ends = [](const CaseParameters& p) { return sends_a_list(p); };
  const bool all_end = ends(e.parameters) && std::ranges::all_of(e.arms, [&](const Arm& arm) {
                         return ends(arm.parameters);
                       });
  if (!all_end && find(file, "parameters.limit_seconds") == nullptr)
    root.below("parameters")
        .fault("limit_seconds",
               "is required without a job and without a list of flows: nothing else ends a run");
}

}  // namespace outrider::lab
