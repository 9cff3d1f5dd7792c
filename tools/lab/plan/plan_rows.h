#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::lab {

/// An arm at a point, which all its seeds share.
struct PlannedRow {
  std::string label;
  std::string origin;  ///< its place in the file, for messages
  ArmRole role = ArmRole::kRemedy;
  CaseParameters parameters;
  CaseParameters common;  ///< [parameters] at its point, which switches of somebody else have
  Parameters point{};     ///< see Case, as the two below
  std::string against{};  ///< as the file says it; require_baselines() completes it
  std::string off{};
};

/// Returns the value of a parameter. A case does not list a parameter that has its default.
const ParameterValue& value_in(const Parameters& parameters, const std::string& name);

/// Returns the text of a value, as in a case's name.
std::string value_text(const ParameterValue& value);

/// Returns the arms at the points, without any that is there already.
std::vector<PlannedRow> rows_of(const ExperimentFile& experiment);

/// Returns the rows of a quick plan, see PlanOptions::quick.
std::vector<PlannedRow> quick_rows(ExperimentFile experiment);

/// Adds a fault for every row that results could not tell from another: of the same arm at the same
/// point, with equal settings of all that arms of a point may differ in.
void refuse_equal_rows(const ExperimentFile& experiment, const std::vector<PlannedRow>& rows,
                       ConfigIssues& issues);

/// Finds what each row is compared with, and adds a fault for every arm that has nothing at its
/// point: all that is said of it against a baseline would be missing from the results.
void require_baselines(const ExperimentFile& experiment, std::vector<PlannedRow>& rows,
                       ConfigIssues& issues);

/// Returns the labels of the arms that are planned: those that are asked for, and what they are
/// compared with.
std::set<std::string> wanted_arms(const PlanOptions& options, const std::vector<PlannedRow>& rows);

}  // namespace outrider::lab
