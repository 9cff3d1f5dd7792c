// Goal: a report survives its text form exactly, and a bad text is named.
#include "switch/report/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace outrider::report_json_test {
namespace {

using testing::HasSubstr;

/// Every number differs from every other and from its default.
std::int64_t given = 0;
template <class T>
T next() {
  return static_cast<T>(++given);
}

template <std::size_t N>
void fill(PerClass<std::array<std::uint64_t, N>>& by_class) {
  for (auto& by_reason : by_class.values)
    for (auto& count : by_reason) count = next<std::uint64_t>();
}
template <class T>
void fill(PerClass<T>& by_class) {
  for (auto& value : by_class.values) value = next<T>();
}

QueueReport filled_queue() {
  QueueReport q;
  q.switch_name = "leaf \"1\"";
  q.port_name = "port\n";
  q.queue = 3;
  for (auto* v : {&q.drain_bits_per_second,
                  &q.bursts_not_recorded,
                  &q.starts_armed,
                  &q.starts_repeated,
                  &q.starts_predicted,
                  &q.predictions_missed,
                  &q.predictor.onsets,
                  &q.predictor.hits,
                  &q.predictor.early,
                  &q.predictor.missed,
                  &q.predictor.locked,
                  &q.predictor.ended,
                  &q.predictor.relearned,
                  &q.predictor.refused,
                  &q.starts_refused_budget,
                  &q.starts_refused_table,
                  &q.recovered_arrival,
                  &q.recovered_burst_end,
                  &q.recovered_timer,
                  &q.expired,
                  &q.budget_exhausted,
                  &q.replaced,
                  &q.withdrawn,
                  &q.resident_bytes,
                  &q.held_packets,
                  &q.entries_left,
                  &q.pace.held,
                  &q.pace.released_room,
                  &q.pace.released_floor,
                  &q.pace.released_end,
                  &q.pace.pushed_out,
                  &q.pace.held_ns})
    *v = next<std::uint64_t>();
  q.initial_threshold_packets = next<std::uint32_t>();
  q.background_threshold_packets = next<std::uint32_t>();
  q.pace.max_held = next<std::uint32_t>();
  q.regulated_ns = std::numeric_limits<std::int64_t>::max();
  for (auto* v : {&q.arrived, &q.transmitted, &q.transmitted_bytes, &q.resident}) fill(*v);
  fill(q.drops);
  fill(q.marks);
  for (const std::uint64_t v : {0ULL, 1ULL, 127ULL, 128ULL, 1'000'003ULL, 1ULL << 63})
    q.burst_sojourn_ns.record(v);
  QueueBurstRecord burst;
  burst.identity = {next<std::uint16_t>(), next<std::uint16_t>(), next<std::uint32_t>(),
                    BurstDirection::kPull};
  burst.first_at_ns = std::numeric_limits<std::int64_t>::min();
  burst.last_at_ns = (std::int64_t{1} << 53) + 1;  // not a double
  fill(burst.start_packets);
  burst.start_bytes = next<std::uint64_t>();
  burst.max_packets = next<std::uint32_t>();
  burst.packets = next<std::uint64_t>();
  burst.sojourn_ns = std::numeric_limits<std::uint64_t>::max();
  q.bursts = {burst, {}};
  QueueBin bin;
  fill(bin.bytes);
  bin.busy_ns = next<std::uint64_t>();
  bin.max_packets = next<std::uint32_t>();
  bin.min_threshold_packets = next<std::uint32_t>();
  bin.sojourn_ns = next<std::uint64_t>();
  q.bins = {{}, bin};
  return q;
}

SwitchReport filled_report() {
  SwitchReport r;
  for (auto* v : {&r.bin_ns, &r.end_ns, &r.longest_poll_gap_ns, &r.busy_ns})
    *v = next<std::int64_t>();
  for (auto* v :
       {&r.received, &r.transmitted, &r.resident, &r.on_links, &r.signals_bad_code,
        &r.signals_not_accepted, &r.signals_over_rate, &r.device_rx_missed, &r.device_rx_nombuf})
    *v = next<std::uint64_t>();
  for (auto& count : r.signals_bad_udp) count = next<std::uint64_t>();
  fill(r.drops);
  r.poll_gaps = {{next<std::int64_t>(), next<std::int64_t>()}, {}};
  r.ledger_balanced = true;
  r.queues = {filled_queue(), {}};
  return r;
}

TEST(SwitchReportJson, SurvivesTheRoundTripExactly) {
  const SwitchReport r = filled_report();
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

// Every field is bound: each number of the filled report stands in the text.
TEST(SwitchReportJson, ForgetsNoField) {
  const std::int64_t before = given;
  const std::string text = to_json(filled_report());
  EXPECT_GT(given - before, 80) << "the report is filled";
  for (std::int64_t n = before + 1; n <= given; ++n) {
    const std::string number = ":" + std::to_string(n);
    EXPECT_TRUE(text.find(number + ",") != std::string::npos ||
                text.find(number + "}") != std::string::npos)
        << "number " << n << " is missing";
  }
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
