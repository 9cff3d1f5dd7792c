#pragma once

#include <string>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// The figures of an arm that a sentence uses.
struct AnswerArm {
  std::string name;
  Estimate change{};  ///< change of the median communication time against off
  Estimate lost{};    ///< share of the background's bytes that was lost
};

struct AnswerSentence {
  std::string kind;  ///< "gain", "cheap", "same", "worse", "warning"
  std::string text;
  bool operator==(const AnswerSentence&) const = default;
};

/// Answers the experiment's question at one point from the numbers alone. It names the largest
/// reduction, the largest that costs the background little, the arms that are statistically
/// indistinguishable from off, and the worse ones. An arm counts as changed only if its
/// confidence interval excludes zero.
/// @param arms   all arms except off
/// @param seeds  smallest number of seeds of an arm; the answer warns if it is small
std::vector<AnswerSentence> answer_of(const std::vector<AnswerArm>& arms, std::size_t seeds);

struct PointAnswer {
  std::string point;
  std::vector<AnswerArm> arms;
};

/// Returns a sentence for each arm that several points have: at how many of them it helps, and
/// between what bounds.
std::vector<AnswerSentence> answer_over(const std::vector<PointAnswer>& points);

}  // namespace outrider::lab
