#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// The times of one run's iterations or bursts, each of a job. Jobs may differ by orders of
/// magnitude, so that a median of all their times is no job's: see mean_of_jobs().
class JobSamples {
 public:
  /// Values in a row that are of one job.
  struct Row {
    std::uint16_t job = 0;
    std::size_t end = 0;  ///< the place behind the last; the first is the end of the row before
  };

  void add(std::uint16_t job, double value) {
    if (rows_.empty() || rows_.back().job != job) rows_.push_back({job, values_.size()});
    values_.push_back(value);
    rows_.back().end = values_.size();
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  std::vector<double> values_{};
  std::vector<Row> rows_{};
};

/// The values of each job that has any, of all runs together.
using ValuesByJob = std::map<std::uint16_t, std::vector<double>>;
ValuesByJob values_by_job(std::span<const JobSamples* const> runs);

/// Returns a figure of each job's values, as the mean of the jobs that have values. With one job
/// it is the figure of that job. NaN if there are no values.
double mean_of_jobs(std::span<const JobSamples* const> runs,
                    const std::function<double(std::vector<double>)>& figure);

/// Does the same for figures of a job in two sets of runs, which `figure` relates. A job that has
/// no values in one of them is left out.
double mean_of_jobs(std::span<const JobSamples* const> runs,
                    std::span<const JobSamples* const> others,
                    const std::function<double(std::vector<double>, std::vector<double>)>& figure);

/// Returns statistics of one run: mean, median and p99 are means over the jobs, the rest is of all
/// values.
Statistics statistics_of(const JobSamples& run);

}  // namespace outrider::lab
