#pragma once

#include <string>
#include <vector>

#include "tools/lab/summary/answer.h"
#include "tools/lab/summary/results.h"
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

/// Returns the comparison as `run` prints it and table.txt has it: the table, and the answer.
std::string result_text(const Summary& summary);

/// Makes the answer. Pure.
ResultAnswer answer_of_results(const Results& results);

/// Returns the answer and its warnings for a terminal, in lines of at most kTableColumns.
std::string answer_text(const Results& results);

}  // namespace outrider::lab
