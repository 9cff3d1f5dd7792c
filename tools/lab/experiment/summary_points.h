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

/// Says whether arms at one point may differ in a parameter. In addition to the regulator's
/// parameters these set the queues' own remedies, the form of signals, the order in which
/// gradients leave, and their paths.
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

/// The point of the matrix and the off case of each case. Only cases at the same point are
/// compared with each other.
struct CasePoints {
  std::vector<std::size_t> off_case;  ///< [cases]; == cases.size(): there is none
  std::vector<std::size_t> point;     ///< [cases]; numbered in order of appearance
};

/// Finds the point and the off case of each case. The off case is the first one with the same
/// seed and
///   1. the label "off", and the same parameters except those of tells_on_from_off();
///   2. the label "off", and the same parameters except also those of other remedies
///      (`switch.marker.kind`, `scheduler`, `job.send_policy` and their settings) and
///      `signal_form`: the static pair is an arm, not a point. K, h and `mark_at` count among
///      these if an arm sets them, but not if a sweep does;
///   3. a label that begins with "off", else as 1;
///   4. a label that begins with "off", else as 2.
/// An off case is thus compared with itself. A case without an off case is at the point of its
/// own parameters.
CasePoints points_of(std::span<const Case* const> cases);

}  // namespace outrider::lab
