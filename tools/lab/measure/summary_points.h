#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Off and on cases that belong together differ in the regulator's parameters
/// (describe_regulator() names them) and in `switch.regulation.*` alone.
bool tells_on_from_off(std::string_view parameter);

/// Arms of one point may differ in these: the regulator's, and those of the queues' own
/// remedies, of the form of signals, of the order in which gradients leave and of the ways
/// they take.
bool tells_arms_apart(std::string_view parameter);

/// As a person would write it; equal texts of one parameter are equal values.
std::string text_of(const ParameterValue& value);

/// "name=value" lines of the parameters that `keep` holds for, to compare by.
template <class Keep>
std::string parameters_key(const Parameters& parameters, Keep keep) {
  std::string key;
  for (const auto& [name, value] : parameters)
    if (keep(std::string_view(name)))
      key.append(name).append("=").append(text_of(value)).append("\n");
  return key;
}

/// Cases compared with each other stand at one point of the matrix.
struct CasePoints {
  std::vector<std::size_t> off_case;  ///< of each case; == cases.size(): there is none
  std::vector<std::size_t> point;     ///< of each case; numbered in order of appearance
};

/// The off case is the first one with the same seed and
///   1. the same parameters, but for those above, and the label "off";
///   2. the same but for other remedies too (`switch.marker.kind`, `scheduler`,
///      `job.send_policy`, and what these take) and `signal_form`: the static pair is an arm,
///      not a point; "off";
///   3. as 1, 4. as 2, with a label that begins with "off".
/// An off case is so compared with itself. A case without any stands at the point
/// of its own parameters.
CasePoints points_of(std::span<const Case* const> cases);

}  // namespace outrider::lab
