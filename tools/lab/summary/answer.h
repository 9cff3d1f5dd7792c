#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/lab/measure/statistics.h"

namespace outrider::lab {

/// The figures of an arm that a sentence uses.
struct AnswerArm {
  std::string name;
  bool remedy = true;      ///< false: a baseline
  Estimate change{};       ///< change of the median communication time against its baseline
  Estimate lost{};         ///< share of the background's bytes that was lost against it
  std::string against{};   ///< name of the baseline; empty: `off`
  Estimate short_flows{};  ///< change of the p99 of background's short flows; NaN without any
  // The following two only where the baseline is another one than `off`.
  Estimate against_off{};       ///< change against `off`
  Estimate lost_against_off{};  ///< share of the background's bytes
  Estimate short_flows_against_off{};
  std::vector<std::string> beside{};      ///< see differences_beside_remedy()
  std::vector<std::string> beside_off{};  ///< the same against `off`
};

struct AnswerSentence {
  std::string kind;  ///< "gain", "cheap", "same", "worse", "warning"
  std::string text;
  bool operator==(const AnswerSentence&) const = default;
};

/// Changes that are smaller are nobody's concern, however sure they are.
inline constexpr double kLeastChange = 0.001;

/// Says whether a change is one: its confidence interval excludes zero, and it is at least
/// kLeastChange.
bool is_change(const Estimate& change);

/// Returns a change in words, "falls by 12 % [10, 14]".
std::string change_in_words(const Estimate& change);

/// Returns "short flows' p99 is 1.20 [1.10, 1.31] times that of off".
/// @param times  over that of `whose`, with bounds if it has an interval
std::string short_flows_text(const Estimate& times, const std::string& whose);

/// Answers the experiment's question at one point from the numbers alone. It names the arm that is
/// quickest of those that gain against their baselines, the quickest that costs the background
/// little, the arms that are statistically indistinguishable from their baselines, and the worse
/// ones. For each arm that it names as a gain it says what background and its short flows pay. An
/// arm counts as changed only if is_change() says so.
/// @param arms   all arms except off
/// @param off    name of the arm that all are compared with
/// @param seeds  smallest number of seeds of an arm; the answer warns if it is small
std::vector<AnswerSentence> answer_of(const std::vector<AnswerArm>& arms, const std::string& off,
                                      std::size_t seeds);

struct PointAnswer {
  std::string point;
  std::vector<AnswerArm> arms;
  std::string off;  ///< name of the arm that all of the point are compared with
};

/// Returns a sentence for each arm that several points have: at how many of them it helps, and
/// between what bounds. An arm whose baseline is not the same at all of them is judged against off.
std::vector<AnswerSentence> answer_over(const std::vector<PointAnswer>& points);

}  // namespace outrider::lab
