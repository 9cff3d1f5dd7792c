#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/core/clock.h"

namespace outrider::lab {

/// The most jobs that a case may have.
inline constexpr std::size_t kMaxListedJobs = 1000;

/// One line of a list of jobs.
struct ArrivingJob {
  std::size_t line = 0;
  std::string name{};  ///< empty: the list does not say it
  Duration start{};
  std::optional<Duration> stop_after{};  ///< from its start; no iteration begins later
  ConfigTable own{};                     ///< keys of a [[job]], with nested keys
};

/// Reads comma-separated values: a line that names the columns, then a line for each job, in any
/// order. `start_seconds` is required; `end_seconds` and `name` are read too. Every other column is
/// a key of [[job]], such as `workers`, `model` or `announce.lead`. An empty field gives nothing.
/// Values of these keys are not checked.
/// @return the jobs, or faults by "line N"
ConfigResult<std::vector<ArrivingJob>> parse_job_list(std::string_view text);
ConfigResult<std::vector<ArrivingJob>> load_job_list(const std::string& path);

}  // namespace outrider::lab
