#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::lab {

using ReportJson = nlohmann::ordered_json;

/// Returns why a text is no summary.json, in words: it is empty, was cut off, or is another file.
/// @param error  that reading it gave
std::string why_no_result(std::string_view text, const nlohmann::json::exception& error);

/// An arm of summary.json and its runs.
struct ReportArm {
  const ReportJson* json = nullptr;
  std::size_t point = 0;
  bool off = false;                  ///< the `off` of its point
  std::string name;                  ///< unique at its point, equal at all points
  std::string against{};             ///< label of its baseline; empty: `off`, or there is none
  std::vector<std::size_t> cases{};  ///< indices of runs
  ReportJson parameters{};           ///< parameters and settings of the programs
};

/// Returns the arms of a summary.
/// @param summary  summary.json; must outlive the result
std::vector<ReportArm> report_arms(const ReportJson& summary);

/// Returns a value of a summary as a person would write it.
std::string shown_value(const ReportJson& value);

/// Returns a name for each point: what distinguishes it from the first point, or from all other
/// points if they differ in only one parameter.
std::vector<std::string> point_names(const std::vector<ReportArm>& arms);

/// Returns the label of the `off` of a point; "the baseline" if it has none.
std::string off_of_point(const std::vector<ReportArm>& arms, std::size_t point);

}  // namespace outrider::lab
