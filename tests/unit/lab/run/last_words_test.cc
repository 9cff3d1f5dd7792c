// Goal: a program's end is explained by its own message, however long the quotation behind it is.
#include "tools/lab/run/last_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace outrider::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string numbered(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += "EAL: line " + std::to_string(i) + "\n";
  return text;
}

std::string words_of(const std::string& text) {
  std::istringstream log(text);
  return last_words(log);
}

constexpr const char* kError =
    "12:00:00.000 outrider-trafficgen error: device left: no DPDK driver took it. Last lines:\n";

TEST(LastWords, OfNothingAreNothing) { EXPECT_THAT(words_of(""), IsEmpty()); }

TEST(LastWords, AreTheLastFiveLinesOfALogWithoutAnError) {
  EXPECT_THAT(words_of(numbered(1, 3)), StartsWith("\n    EAL: line 1\n"));
  EXPECT_THAT(words_of(numbered(1, 9)), StartsWith("\n    EAL: line 5\n"));
}

TEST(LastWords, BeginWithTheErrorThatQuotesALibrary) {
  const std::string words = words_of(numbered(1, 9) + kError + numbered(10, 17));
  EXPECT_THAT(words, StartsWith(std::string("\n    ") + kError));
  EXPECT_THAT(words, HasSubstr("line 17"));
}

TEST(LastWords, KeepFiveLinesIfTheErrorIsTheLast) {
  EXPECT_THAT(words_of(numbered(1, 9) + kError), StartsWith("\n    EAL: line 6\n"));
}

TEST(LastWords, LeaveOutAnErrorOfLongAgo) {
  const std::string words = words_of(kError + numbered(1, 20));
  EXPECT_THAT(words, Not(HasSubstr("error: ")));
  EXPECT_THAT(words, StartsWith("\n    EAL: line 16\n"));
}

}  // namespace
}  // namespace outrider::lab
