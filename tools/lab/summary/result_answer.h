#pragma once

#include <string>
#include <vector>

#include "tools/lab/summary/answer.h"
#include "tools/lab/summary/result_arms.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// What results say, as `run`, its --brief, `answer` and the report give it: one text, whoever
/// asks.
struct ResultAnswer {
  struct Point {
    std::string name;
    std::vector<AnswerSentence> sentences;
  };
  std::string question;
  std::vector<Point> points;
  std::vector<AnswerSentence> sweep;  ///< over all points, if there are several
  std::vector<std::string> warnings;  ///< what is wrong with the figures, a sentence each
};

/// Returns summary.json as an object. A figure that is not defined is NaN in it.
ReportJson result_of(const Summary& summary);

/// Returns the comparison as `run` prints it and table.txt has it: the table, and the answer.
std::string result_text(const Summary& summary);

/// Makes the answer from a summary.json. Pure.
ResultAnswer answer_of_result(const ReportJson& summary);

/// Returns the answer and its warnings for a terminal, in lines of at most kTableColumns.
std::string answer_text(const ReportJson& summary);

/// Returns an estimate of an arm's metric; all NaN where the arm does not have it.
/// @param metrics  "metrics" or "against_off" of an arm  @param part  "value" or "change"
Estimate estimate_in_result(const ReportJson& metrics, const char* metric, const char* part);

/// Reads the text of a summary.json. @throws std::runtime_error that says what is wrong with it
ReportJson result_from_text(const std::string& text);

}  // namespace outrider::lab
