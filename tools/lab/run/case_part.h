#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace outrider::lab {

/// One of several parts of an experiment's cases. Parts run on their own, on other machines too.
struct CasePart {
  std::size_t number = 1;  ///< from 1 to `of`
  std::size_t of = 1;

  friend bool operator==(const CasePart&, const CasePart&) = default;
};

/// Reads "3/20". @throws std::invalid_argument with the text and the rule that it breaks
CasePart case_part_from(const std::string& text);

/// Returns "3/20".
std::string to_text(const CasePart& part);

/// Returns the indices of a part's cases, rising. Cases are dealt in turn: neighbours in the plan
/// are seeds of one arm and take about the same time, so that all parts do.
/// @pre part.of <= cases
std::vector<std::size_t> cases_of(const CasePart& part, std::size_t cases);

}  // namespace outrider::lab
