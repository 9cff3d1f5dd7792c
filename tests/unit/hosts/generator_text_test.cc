// Goal: the generator's report names the background that there was, and no other. Method: reports
// made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "trafficgen/report/report_text.h"

namespace outrider::generator_text_test {
using namespace tg;
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const GeneratorReport& report) {
  std::ostringstream out;
  print_summary(out, report);
  return out.str();
}

FlowReport flow(TrafficClass traffic_class, std::uint64_t retransmitted) {
  FlowReport report;
  report.traffic_class = traffic_class;
  report.delivered_bytes = 1'000;
  report.retransmitted = retransmitted;
  return report;
}

TEST(GeneratorText, FlowsThatComeAndGoAreNoLongFlows) {
  GeneratorReport report;
  report.end_ns = 1'000'000;
  report.flows = {flow(TrafficClass::kDdl, 2)};
  report.flow_groups.emplace_back().name = "web-search";
  const std::string text = text_of(report);
  EXPECT_THAT(text, HasSubstr("flows \"web-search\": 0 arrived"));
  EXPECT_THAT(text, Not(HasSubstr("background: "))) << "there are no long flows to tell of";
  EXPECT_THAT(text, HasSubstr("retransmitted segments of bursts and long flows: 2\n"));
}

TEST(GeneratorText, LongFlowsAreCountedWithTheirBytes) {
  GeneratorReport report;
  report.end_ns = 1'000'000;
  report.flows = {flow(TrafficClass::kBackground, 1), flow(TrafficClass::kBackground, 1)};
  EXPECT_THAT(text_of(report),
              HasSubstr("background: 2 long flows, 2000 bytes, 16 Mbit/s of payload\n"));
}

}  // namespace
}  // namespace outrider::generator_text_test
