#include "tools/lab/suite/suite_repeats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace outrider::lab {

std::optional<double> coefficient_of_variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (mean == 0) return std::nullopt;
  return std::sqrt(squares / (count - 1)) / std::abs(mean);
}

std::optional<double> largest_variation(const ResultsReader& results, const std::string& metric) {
  std::map<std::int64_t, std::vector<double>> by_arm;
  for (Query row = results.query("SELECT cases.arm, case_metrics.metric, case_metrics.value "
                                 "FROM case_metrics JOIN cases USING (case_index)");
       row.next();)
    if (row.text(1) == metric && !row.is_null(2))
      by_arm[row.whole(0).value_or(0)].push_back(row.number(2));
  std::optional<double> largest;
  for (const auto& [arm, values] : by_arm)
    if (const auto one = coefficient_of_variation(values))
      largest = std::max(largest.value_or(0), *one);
  return largest;
}

}  // namespace outrider::lab
