#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Says whether off and on cases that belong together may differ in a parameter: the regulator's
/// parameters, which describe_regulator() names, and `switch.regulation.*`.
bool tells_on_from_off(std::string_view parameter);

/// Says whether a sweep of a parameter for some arms alone makes settings of these arms, which are
/// compared with `off` as it is: the regulator's parameters, the other remedies, and what an arm
/// may have of its own, the transport of bursts and lossless queues.
bool tells_arms_apart(std::string_view parameter);

/// Returns a value as a person would write it. Two values of one parameter are equal if and
/// only if their texts are.
std::string text_of(const ParameterValue& value);

/// Returns "name=value" lines of the parameters for which `keep` is true, to compare cases by.
template <class Keep>
std::string parameters_key(const Parameters& parameters, Keep keep) {
  std::string key;
  for (const auto& [name, value] : parameters)
    if (keep(std::string_view(name)))
      key.append(name).append("=").append(text_of(value)).append("\n");
  return key;
}

/// The point of the matrix and what each case is compared with. Cases of other points are never
/// compared. An index of cases.size() says that there is none.
struct CasePoints {
  std::vector<std::size_t> baseline;  ///< [cases]; the case itself: others are compared with it
  std::vector<std::size_t> off;       ///< [cases]; the `off` of its point
  std::vector<std::size_t> point;     ///< [cases]; numbered in order of appearance
};

/// Finds the point, the `off` and the baseline of each case.
///
/// Sweeps alone make points: an arm is at the point of Case::point, whatever it sets itself. A
/// sweep may name arms without `off`. If it sets only what tells_arms_apart() knows, its arms are
/// compared with the `off` that has all else of the point.
///
/// The `off` of a point is the first baseline of the cases by its label; where a point has none of
/// that label, the first baseline there.
/// The baseline of a case is the arm `Case::against`. If that is empty, it is a baseline that
/// has the workload, the transport and the background of the case, and no remedy: differs from
/// `off` in no queue, order, path or threshold. Without such an arm it is one that has the remedies
/// of the case but for the regulator, else `off`. A baseline that has no remedy is compared with
/// `off`.
CasePoints points_of(std::span<const Case* const> cases);

/// Says in what two arms differ beside the remedy, "protocol roce instead of tcp" each: what a
/// change between them may be due to, too. An empty text is "none".
/// An arm whose bursts switches act on is credited with that alone, not with queues of its own.
std::vector<std::string> differences_beside_remedy(const Parameters& own,
                                                   const Parameters& baseline);

}  // namespace outrider::lab
