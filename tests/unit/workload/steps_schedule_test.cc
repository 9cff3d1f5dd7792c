// Goal: a list of steps is read as it says and refused by line, and becomes messages that wait for
// what their ranks must have ended before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trafficgen/import/step_list.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::steps_schedule_test {
using namespace tg;
using testing::ElementsAre;
using testing::HasSubstr;
namespace {

constexpr const char* kList =
    "kind,ranks,bytes,seconds,after,name\n"
    "compute,0-2,,0.002,,forward\n"
    "all_reduce,0-2,300,,,gradients   # a comment\n"
    "send,2;0,5,,start,\n"
    "compute,0,,0.5,1;3,last\n";

TEST(StepList, IsReadAndWrittenAlike) {
  const auto read = parse_step_list(kList);
  ASSERT_TRUE(read) << format_issues("", read.issues);
  EXPECT_EQ(read.config->ranks, 3U);
  ASSERT_EQ(read.config->steps.size(), 4U);
  EXPECT_EQ(read.config->steps[0].takes, std::chrono::milliseconds(2));
  EXPECT_FALSE(read.config->steps[1].after);
  EXPECT_THAT(read.config->steps[2].ranks, ElementsAre(2, 0));
  EXPECT_TRUE(read.config->steps[2].after->empty());
  EXPECT_THAT(*read.config->steps[3].after, ElementsAre(0, 2));
  EXPECT_EQ(bytes_sent(*read.config), 2 * 2 * 300 + 5U);
  EXPECT_EQ(longest_compute(*read.config), std::chrono::milliseconds(502));
  const std::string text = step_list_text(*read.config);
  EXPECT_EQ(step_list_text(*parse_step_list(text).config), text);
}

TEST(StepList, IsRefusedByLine) {
  const std::string head = "kind,ranks,bytes,seconds,after\n";
  const std::pair<std::string, const char*> rows[] = {
      {"kind,bytes\n", "line 1: has no column \"ranks\""},
      {head + "sum,0-1,9,,\n", "line 2: \"sum\""},
      {head + "all_reduce,0-256,9,,\n", "\"0-256\""},
      {head + "all_reduce,0;0,9,,\n", "named twice"},
      {head + "all_reduce,0,9,,\n", "two ranks"},
      {head + "all_reduce,0-1,0,,\n", "bytes must be"},
      {head + "all_gather,0-9,9,,\n", "one for each of its 10"},
      {head + "compute,0-1,,-1,\n", "seconds must be"},
      {head + "compute,0-1,9,1,\n", "has no bytes"},
      {head + "all_reduce,0-1,9,,1\n", "steps above"},
      {head + "send,0-2,9,,\n", "two ranks, the sender"},
      {head + "send,0-1,9,,\n", "rank 1 sends nothing"},
      {head, "has no steps"}};
  for (const auto& [text, problem] : rows) {
    const auto read = parse_step_list(text);
    EXPECT_FALSE(read) << text;
    EXPECT_THAT(format_issues("", read.issues), HasSubstr(problem)) << text;
  }
}

TEST(StepList, IsBoundedByItsMessages) {
  std::string text = "kind,ranks,bytes\n";
  for (int i = 0; i < 9; ++i) text += "all_reduce,0-255,1000000\n";
  EXPECT_THAT(format_issues("", parse_step_list(text).issues), HasSubstr("line 10: the list has"));
}

// Messages 0 and 1 are computations. The send waits for that of its sender alone.
TEST(StepsSchedule, WaitsForStepsBefore) {
  const auto s = steps_schedule(*parse_step_list("kind,ranks,bytes,seconds,after\n"
                                                 "compute,0-1,,1,\n"
                                                 "send,0;1,70,,\n"
                                                 "send,1;0,80,,start\n")
                                     .config);
  ASSERT_EQ(s.messages.size(), 8U);
  EXPECT_EQ(s.messages[0].takes, std::chrono::seconds(1));
  EXPECT_EQ(s.messages[0].from, s.messages[0].to);
  EXPECT_EQ(s.messages[2].bytes, 70U);
  EXPECT_THAT(s.messages[2].needs, ElementsAre(0));
  EXPECT_THAT(s.messages[3].needs, ElementsAre(0, 2)) << "the sender has ended when it arrived";
  EXPECT_THAT(s.messages[4].needs, ElementsAre(1, 2)) << "the receiver has computed, too";
  EXPECT_TRUE(s.messages[5].needs.empty());
  EXPECT_EQ(s.messages[4].step, 1U);
}

// Half a ring each: together they send what an all-reduce sends.
TEST(StepsSchedule, CutsTheRing) {
  const auto s = steps_schedule(*parse_step_list("kind,ranks,bytes\n"
                                                 "reduce_scatter,0-3,400\n"
                                                 "all_gather,0-3,400\n")
                                     .config);
  std::uint64_t bytes = 0;
  std::size_t sums = 0;
  for (const auto& m : s.messages) {
    bytes += m.bytes;
    sums += m.sums ? 1 : 0;
    for (const std::uint32_t needed : m.needs)
      EXPECT_TRUE(s.messages[needed].to == m.from || s.messages[needed].from == m.from);
  }
  EXPECT_EQ(bytes, 2 * 3 * 400U);
  EXPECT_EQ(sums, 12U);
}

}  // namespace
}  // namespace outrider::steps_schedule_test
