// Goal: a report is exactly restored from its text, and faults of a bad text are named.
#include "switch/report/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "switch/report/report_fields.h"
#include "tests/support/filled.h"

namespace outrider::report_json_test {
using namespace sw;
namespace {

using testing::HasSubstr;

/// Returns a report in which every number differs from all others and from its default, extremes
/// included.
SwitchReport filled_report(std::uint64_t* numbers = nullptr) {
  SwitchReport r;
  Filler filler;
  filler.value("report", r);
  if (numbers != nullptr) *numbers = filler.given();
  return r;
}

SwitchReport extreme_report() {
  SwitchReport r = filled_report();
  QueueReport& q = r.queues[0];
  q.regulated_ns = std::numeric_limits<std::int64_t>::max();
  q.bursts[0].first_at_ns = std::numeric_limits<std::int64_t>::min();
  q.bursts[0].last_at_ns = (std::int64_t{1} << 53) + 1;  // no double has this value
  q.bursts[0].sojourn_ns = std::numeric_limits<std::uint64_t>::max();
  q.interval_sojourn_ns.clear();
  return r;
}

TEST(SwitchReportJson, SurvivesTheRoundTripExactly) {
  const SwitchReport r = extreme_report();
  const SwitchReport back = switch_report_from_json(to_json(r));
  EXPECT_EQ(to_json(back), to_json(r));

  EXPECT_EQ(back.end_ns, r.end_ns);
  EXPECT_EQ(back.on_links, r.on_links);
  EXPECT_EQ(back.drops.values, r.drops.values);
  EXPECT_TRUE(back.ledger_balanced);
  ASSERT_EQ(back.queues.size(), 2U);
  const QueueReport& a = r.queues[0];
  const QueueReport& b = back.queues[0];
  EXPECT_EQ(b.switch_name, a.switch_name);
  EXPECT_EQ(b.port_name, a.port_name);
  EXPECT_EQ(b.queue, a.queue);
  EXPECT_EQ(b.regulated_ns, a.regulated_ns);
  EXPECT_EQ(b.marks.values, a.marks.values);
  EXPECT_EQ(b.burst_sojourn_ns, a.burst_sojourn_ns);
  EXPECT_EQ(b.interval_sojourn_ns, Histogram{});
  EXPECT_EQ(b.burst_sojourn_ns.quantile(0.99), a.burst_sojourn_ns.quantile(0.99));
  ASSERT_EQ(b.bursts.size(), 2U);
  EXPECT_EQ(b.bursts[0].identity, a.bursts[0].identity);
  EXPECT_EQ(b.bursts[0].first_at_ns, a.bursts[0].first_at_ns);
  EXPECT_EQ(b.bursts[0].last_at_ns, a.bursts[0].last_at_ns);
  EXPECT_EQ(b.bursts[0].sojourn_ns, a.bursts[0].sojourn_ns);
  ASSERT_EQ(b.bins.size(), 2U);
  EXPECT_EQ(b.bins[1].bytes.values, a.bins[1].bytes.values);
}

TEST(SwitchReportJson, ForgetsNoField) {
  std::uint64_t numbers = 0;
  const std::string text = to_json(filled_report(&numbers));
  EXPECT_GT(numbers, 200U) << "the report is filled";
  EXPECT_EQ(missing_numbers(text, numbers), "");
}

// A member without a row would be missing from reports, and no other test would notice.
TEST(SwitchReportJson, HasARowForEveryMember) {
  EXPECT_EQ(BoundBytes::faults<QueueBurstRecord>(), "");
  EXPECT_EQ(BoundBytes::faults<QueueBin>(), "");
  EXPECT_EQ(BoundBytes::faults<WindowCounters>(), "");
  EXPECT_EQ(BoundBytes::faults<PaceCounters>(), "");
  EXPECT_EQ(BoundBytes::faults<PredictionCounters>(), "");
  EXPECT_EQ(BoundBytes::faults<QueueReport>(), "") << "with its counters and the regulator's";
  EXPECT_EQ(BoundBytes::faults<SwitchReport>(), "") << "with those of the process";
}

// Names written by hand, on which users of the report rely.
TEST(SwitchReportJson, KeepsItsNames) {
  SwitchReport r;
  r.device_rx_missed = 1;
  r.signals_bad_udp[udp_signal::Fault::kDueTooFar] = 2;
  r.drops[TrafficClass::kDdl][DropReason::kBufferFull] = 3;
  QueueReport& q = r.queues.emplace_back();
  q.marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold] = 4;
  q.window.answers[WindowReason::kHeld] = 5;
  q.starts_armed = 6;
  q.predictor.locked = 7;
  q.pace.pushed_out = 8;
  const nlohmann::json json = nlohmann::json::parse(to_json(r));
  EXPECT_EQ(json["device_rx_missed"], 1);
  EXPECT_EQ(json["signals_bad_udp"]["due_too_far"], 2);
  EXPECT_EQ(json["drops"]["ddl"]["buffer_full"], 3);
  const auto& queue = json["queues"][0];
  EXPECT_EQ(queue["marks"]["background"]["regulated_threshold"], 4);
  EXPECT_EQ(queue["window"]["answers"]["held"], 5);
  EXPECT_EQ(queue["starts_armed"], 6);
  EXPECT_EQ(queue["predictor"]["locked"], 7);
  EXPECT_EQ(queue["pace"]["pushed_out"], 8);
}

TEST(SwitchReportJson, NamesWhatIsWrong) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = to_json(filled_report());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      switch_report_from_json(text);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("(accepted)");
  };
  EXPECT_THAT(refusal("\"schema_version\":3", "\"schema_version\":99"),
              HasSubstr("schema_version"));
  EXPECT_THAT(refusal("switch_report", "generator_report"), HasSubstr("another report"));
  EXPECT_THAT(refusal("\"on_links\"", "\"on_link\""), HasSubstr("on_links: is missing"));
  EXPECT_THAT(refusal("\"ledger_balanced\":true", "\"ledger_balanced\":1"),
              HasSubstr("must be true or false"));
  EXPECT_THAT(refusal("\"direction\":\"pull\"", "\"direction\":\"up\""),
              HasSubstr("queues[0].bursts[0].identity.direction"));
  EXPECT_THAT(refusal("\"buckets\":[[0,1]", "\"buckets\":[[99999999,1]"),
              HasSubstr("index is out of range"));
  EXPECT_THAT(refusal("\"buckets\":[[0,1]", "\"buckets\":[[0,2]"),
              HasSubstr("is not the sum of the buckets"));
  EXPECT_THROW(switch_report_from_json("{"), std::runtime_error);
  EXPECT_THROW(switch_report_from_json("[]"), std::runtime_error);
}

}  // namespace
}  // namespace outrider::report_json_test
