// Goal: a generator's report survives its text form exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/filled.h"
#include "trafficgen/report/generator_fields.h"
#include "trafficgen/report/report_json.h"

namespace outrider::generator_report_json_test {
using namespace tg;
namespace {

/// Every number differs from every other and from its default.
GeneratorReport filled_report(std::uint64_t* numbers = nullptr) {
  GeneratorReport r;
  Filler filler;
  filler.value("report", r);
  if (numbers != nullptr) *numbers = filler.given();
  return r;
}

TEST(GeneratorReportJson, SurvivesTheRoundTripExactly) {
  const GeneratorReport r = filled_report();
  const GeneratorReport back = generator_report_from_json(to_json(r));
  EXPECT_EQ(to_json(back), to_json(r));
  EXPECT_EQ(back.drops, r.drops);
  EXPECT_TRUE(back.jobs_finished);
  EXPECT_TRUE(back.ledger_balanced);
  ASSERT_EQ(back.bursts.size(), 2U);
  EXPECT_EQ(back.bursts[0].identity, r.bursts[0].identity);
  EXPECT_EQ(back.bursts[0].delivered_ns, r.bursts[0].delivered_ns);
  EXPECT_TRUE(back.bursts[0].ack_timed_out);
  EXPECT_EQ(back.bursts[1].delivered_ns, kNotYet_ns);
  ASSERT_EQ(back.flows.size(), 2U);
  EXPECT_EQ(back.flows[0].name, r.flows[0].name);
  EXPECT_EQ(back.flows[0].traffic_class, TrafficClass::kDdl);
  ASSERT_EQ(back.learners.size(), 2U);
  EXPECT_EQ(back.learners[0].losses.size(), 2U);
}

TEST(GeneratorReportJson, ForgetsNoField) {
  std::uint64_t numbers = 0;
  const std::string text = to_json(filled_report(&numbers));
  EXPECT_GT(numbers, 200U) << "the report is filled";
  EXPECT_EQ(missing_numbers(text, numbers), "");
}

// A member that has no row is in no report, and nothing else would say so.
TEST(GeneratorReportJson, HasARowForEveryMember) {
  EXPECT_EQ(BoundBytes::faults<RunReport>(), "");
  EXPECT_EQ(BoundBytes::faults<BurstRecord>(), "");
  EXPECT_EQ(BoundBytes::faults<IterationRecord>(), "");
  EXPECT_EQ(BoundBytes::faults<JobReport>(), "");
  EXPECT_EQ(BoundBytes::faults<LearnerReport>(), "");
  EXPECT_EQ(BoundBytes::faults<FlowReport>(), "");
  EXPECT_EQ(BoundBytes::faults<StartCounts>(), "");
  EXPECT_EQ(BoundBytes::faults<TcpEvents>(), "");
  EXPECT_EQ(BoundBytes::faults<NeighbourhoodReport>(), "");
  EXPECT_EQ(BoundBytes::faults<GeneratorReport>(), "");
}

TEST(GeneratorReportJson, RefusesTheReportOfASwitch) {
  std::string text = to_json(filled_report());
  text.replace(text.find("generator_report"), 16, "switch_report");
  EXPECT_THROW(generator_report_from_json(text), std::runtime_error);
}

}  // namespace
}  // namespace outrider::generator_report_json_test
