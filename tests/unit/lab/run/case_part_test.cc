// Goal: parts of an experiment have each case once, none has two cases more than another, and text
// that names no part is refused with the rule that it breaks.
#include "tools/lab/run/case_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace outrider::case_part_test {
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CasePart, EveryCaseIsInOnePartAndPartsAreEven) {
  for (std::size_t cases = 1; cases <= 60; ++cases) {
    for (std::size_t parts = 1; parts <= cases; ++parts) {
      std::vector<int> times(cases);
      for (std::size_t number = 1; number <= parts; ++number) {
        const auto own = cases_of({.number = number, .of = parts}, cases);
        EXPECT_TRUE(own.size() == cases / parts || own.size() == (cases + parts - 1) / parts)
            << number << '/' << parts << " of " << cases << " has " << own.size();
        for (const std::size_t i : own) ++times.at(i);
      }
      EXPECT_THAT(times, testing::Each(1)) << parts << " parts of " << cases;
    }
  }
}

// Seeds of an arm follow each other in a plan, and take about the same time: a slow arm is in all
// parts.
TEST(CasePart, NeighboursAreInDifferentParts) {
  EXPECT_THAT(cases_of({.number = 1, .of = 3}, 8), ElementsAre(0, 3, 6));
  EXPECT_THAT(cases_of({.number = 3, .of = 3}, 8), ElementsAre(2, 5));
}

TEST(CasePart, IsReadFromItsText) {
  EXPECT_EQ(case_part_from("3/20"), (CasePart{.number = 3, .of = 20}));
  EXPECT_EQ(to_text(case_part_from("1/1")), "1/1");
}

TEST(CasePart, WhatIsNoneIsRefusedWithTheRule) {
  const auto refusal = [](const char* text) -> std::string {
    try {
      case_part_from(text);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  for (const char* text : {"", "3", "/", "3/", "/20", "a/20", "3/b", "3/20/1", "-1/3", "+1/3",
                           "1 /3", "1/3 ", "1.5/3", "99999999999999999999999/3"})
    EXPECT_EQ(refusal(text), std::string(text) + ": must be I/N, which is part I of N, as 3/20");
  for (const char* text : {"0/3", "4/3", "0/0", "1/0"})
    EXPECT_EQ(refusal(text), std::string(text) + ": I must be from 1 to N, and N at least 1");
}

}  // namespace
}  // namespace outrider::case_part_test
