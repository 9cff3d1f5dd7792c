#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace outrider::lab {

/// What convert_experiment() made of a file.
struct Converted {
  std::string text;
  std::size_t changes = 0;                ///< lines that are rewritten
  std::vector<std::string> left_alone{};  ///< "line 12: ...": what a person has to rewrite
};

/// Rewrites the text of an experiment, or of a file of arms, of the earlier language: parameters
/// that were one setting of a program become overlays on it (`regulation` is
/// `switch.regulation.mode`), and
/// [[vary]] and [[cross]] become [[sweep]]. Comments, the order and the ends of lines stay. A text
/// without old keys stays as it is.
Converted convert_experiment(std::string_view text);

}  // namespace outrider::lab
