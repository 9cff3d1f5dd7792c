#pragma once

#include <string>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// What a sentence says of an arm.
struct AnswerArm {
  std::string name;
  Estimate change{};  ///< of the median communication time against off
  Estimate lost{};    ///< share of the background's bytes
};

struct AnswerSentence {
  std::string kind;  ///< "gain", "cheap", "same", "worse", "warning"
  std::string text;
  bool operator==(const AnswerSentence&) const = default;
};

/// The answer to the experiment's question at one point, from the numbers alone: the largest
/// reduction, the largest that costs the background little, who cannot be told from off, who
/// is worse. An arm counts as changed only if its confidence interval excludes zero.
/// @param arms   all but off
/// @param seeds  the fewest of an arm; few are said
std::vector<AnswerSentence> answer_of(const std::vector<AnswerArm>& arms, std::size_t seeds);

struct PointAnswer {
  std::string point;
  std::vector<AnswerArm> arms;
};

/// A sentence an arm that stands at several points: at how many of them it helps, and between
/// what bounds.
std::vector<AnswerSentence> answer_over(const std::vector<PointAnswer>& points);

}  // namespace outrider::lab
