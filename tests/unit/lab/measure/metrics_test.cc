// Goal: every metric follows its definition in docs/measurement.md. Method: reports made
// by hand, expected numbers computed by hand, in milliseconds.
#include "tools/lab/measure/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/measure/collective_bandwidth.h"
#include "tools/lab/measure/references.h"

namespace outrider::metrics_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace lab_test;

CaseMetrics measure_virtual(const Case& c, const RunResult& r) {
  return measure(c, Runtime::kVirtual, r);
}

/// Returns a run of two workers with one complete iteration.
RunResult one_iteration() {
  RunResult r = make_result(200);
  add_burst(r, 0, 0, {.due = 100, .start = 98, .first = 102, .delivered = 140});
  add_burst(r, 1, 0, {.due = 101, .start = 99, .first = 101.5, .delivered = 150});
  add_queue_burst(r, 0, 0, 103, 5, 44);
  auto& second = add_queue_burst(r, 1, 0, 102, 7, 50);
  second.start_packets[TrafficClass::kDdl] = 2;
  return r;
}

TEST(Metrics, OfAnIterationOfTwoWorkers) {
  const CaseMetrics m = measure_virtual(make_case("off"), one_iteration());
  const Samples& s = m.samples;
  EXPECT_EQ(m.iterations, 1U);
  EXPECT_EQ(m.incomplete, 0U);
  ASSERT_EQ(s.burst_completion_seconds.size(), 1U);
  EXPECT_DOUBLE_EQ(s.burst_completion_seconds.values()[0], 0.0485) << "the slowest worker";
  ASSERT_EQ(s.communication_seconds.size(), 1U);
  EXPECT_DOUBLE_EQ(s.communication_seconds.values()[0], 0.050) << "earliest due to latest delivery";
  ASSERT_EQ(s.burst_throughput_bits_per_second.size(), 2U) << "one per burst";
  EXPECT_DOUBLE_EQ(s.burst_throughput_bits_per_second[0], 800'000 / 0.038);
  EXPECT_DOUBLE_EQ(s.burst_throughput_bits_per_second[1], 800'000 / 0.0485);
  EXPECT_DOUBLE_EQ(m.ddl_total_throughput_bits_per_second, 1'600'000 / 0.0865);
}

// The words of nccl-tests: both workers send 100 kB in the 50 ms of the iteration.
TEST(Metrics, BandwidthsOfCollectives) {
  Case c = make_case("off");
  EXPECT_TRUE(measure_virtual(c, one_iteration()).samples.busbw_bits_per_second.empty())
      << "parameter servers have none";
  const auto bandwidths = [&](Collective collective) {
    c.traffic.jobs.back().collective = collective;
    const Samples s = measure_virtual(c, one_iteration()).samples;
    return std::pair(s.algbw_bits_per_second.values().at(0),
                     s.busbw_bits_per_second.values().at(0));
  };
  EXPECT_EQ(bandwidths(Collective::kRing), std::pair(16e6, 16e6)) << "2 (n - 1) / n is 1";
  EXPECT_EQ(bandwidths(Collective::kAllToAll), std::pair(32e6, 16e6)) << "(n - 1) / n is a half";
  EXPECT_EQ(measure_virtual(c, one_iteration()).samples.collective_bytes.values(),
            std::vector{200e3})
      << "half of it stays";
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kTree, 8).value(), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kHalvingDoubling, 16).value(), 1.875);
  EXPECT_EQ(bus_factor(Collective::kPipeline, 4), std::nullopt);
}

TEST(Metrics, QueueIsThatOfTheIterationsFirstPacket) {
  const CaseMetrics m = measure_virtual(make_case("off"), one_iteration());
  const Samples& s = m.samples;
  // Worker 1 came first, although its record is second.
  EXPECT_EQ(s.start_queue_packets, std::vector<double>{7});
  EXPECT_EQ(s.start_queue_total_packets, std::vector<double>{9});
  EXPECT_EQ(s.worker_start_queue_packets, (std::vector<double>{7, 5}));
  EXPECT_EQ(s.max_queue_packets, std::vector<double>{50});
  EXPECT_TRUE(m.queue.found);
}

TEST(Metrics, PullBurstsAreKeptApart) {
  RunResult r = one_iteration();
  add_burst(r, 0, 0, {.due = 150, .first = 151, .delivered = 161}, BurstDirection::kPull);
  add_burst(r, 1, 0, {.due = 150, .first = 151, .delivered = 171}, BurstDirection::kPull);
  add_queue_burst(r, 0, 0, 90, 30, 60, BurstDirection::kPull);
  const CaseMetrics m = measure_virtual(make_case("off"), r);
  EXPECT_EQ(m.push_bursts, 2U);
  EXPECT_EQ(m.samples.burst_completion_seconds.values(), std::vector<double>{0.0485});
  EXPECT_EQ(m.samples.start_queue_packets, std::vector<double>{7});
  EXPECT_EQ(m.samples.max_queue_packets, std::vector<double>{50});
  ASSERT_EQ(m.samples.pull_completion_seconds.size(), 1U);
  EXPECT_DOUBLE_EQ(m.samples.pull_completion_seconds.values()[0], 0.020);
}

TEST(Metrics, WhatNeverCompletedIsLeftOutOfTheTimesAndCounted) {
  RunResult r = one_iteration();
  add_burst(r, 0, 1, {.due = 160, .first = 161, .delivered = 170});
  add_burst(r, 1, 1, {.due = 160, .first = 161});                    // never delivered
  add_burst(r, 0, 2, {.due = 180, .first = 181, .delivered = 190});  // worker 1 is missing
  add_queue_burst(r, 0, 1, 161, 11, 20);
  const CaseMetrics m = measure_virtual(make_case("off"), r);
  EXPECT_EQ(m.iterations, 3U);
  EXPECT_EQ(m.incomplete, 2U);
  EXPECT_EQ(m.samples.burst_completion_seconds.size(), 1U);
  EXPECT_EQ(m.samples.communication_seconds.size(), 1U);
  EXPECT_EQ(m.samples.burst_throughput_bits_per_second.size(), 2U);
  EXPECT_EQ(m.samples.start_queue_packets, (std::vector<double>{7, 11})) << "the queue was there";
}

TEST(Metrics, RetransmissionsCountOnceAsPayload) {
  RunResult r = one_iteration();
  r.traffic.bursts[1].rtos = 2;
  r.traffic.bursts[1].retransmitted = 9;
  const CaseMetrics m = measure_virtual(make_case("off"), r);
  EXPECT_EQ(m.push_rtos, 2U);
  EXPECT_DOUBLE_EQ(m.ddl_total_throughput_bits_per_second, 1'600'000 / 0.0865);
}

TEST(Metrics, IterationsTakeAsLongAsTheirSlowestWorker) {
  RunResult r = one_iteration();
  r.traffic.jobs_finished = true;
  r.traffic.iterations = {{.worker = 0, .iteration = 0, .begin_ns = 10 * kMs, .end_ns = 30 * kMs},
                          {.worker = 1, .iteration = 0, .begin_ns = 12 * kMs, .end_ns = 37 * kMs},
                          {.worker = 0, .iteration = 1, .begin_ns = 30 * kMs, .end_ns = 60 * kMs},
                          {.worker = 1, .iteration = 1, .begin_ns = 37 * kMs, .end_ns = 50 * kMs}};
  CaseMetrics m = measure_virtual(make_case("off"), r);
  EXPECT_EQ(m.samples.iteration_seconds.values(), (std::vector<double>{0.025, 0.030}));
  EXPECT_DOUBLE_EQ(m.job_completion_seconds, 0.050);

  r.traffic.iterations.pop_back();  // worker 1 did not get there
  r.traffic.jobs_finished = false;
  m = measure_virtual(make_case("off"), r);
  EXPECT_EQ(m.samples.iteration_seconds.size(), 1U);
  EXPECT_TRUE(std::isnan(m.job_completion_seconds));
}

TEST(Metrics, ARemedyThatDoesNothingIsArmedInVain) {
  RunResult r = one_iteration();
  queue_of(r).starts_armed = 4;
  queue_of(r).marks[TrafficClass::kBackground] = {9, 0};  // by the marker alone
  r.switches.queues.emplace_back().grant.entered = 2;
  const auto vain = [&r] { return measure_virtual(make_case("on"), r).signals.armed_in_vain; };
  EXPECT_EQ(vain(), 6U) << "of all queues";
  for (std::uint64_t* acts :
       {&queue_of(r).pace.held, &queue_of(r).window.rewritten, &queue_of(r).window.spared_marks,
        &queue_of(r).beyond.rewritten, &queue_of(r).steer.packets, &queue_of(r).grant.acks_held}) {
    *acts = 1;
    EXPECT_EQ(vain(), 0U);
    *acts = 0;
  }
  queue_of(r).marks[TrafficClass::kBackground] = {9, 1};
  EXPECT_EQ(vain(), 0U);
}

TEST(Metrics, RegulatedTimeIsAShareOfTheRun) {
  RunResult r = one_iteration();
  queue_of(r).regulated_ns = 50 * kMs;
  EXPECT_DOUBLE_EQ(measure_virtual(make_case("off"), r).queue.regulated_share, 0.25);
}

TEST(Metrics, EveryLedgerMustBalance) {
  const Case c = make_case("off");
  EXPECT_TRUE(measure_virtual(c, one_iteration()).ledger_balanced);
  RunResult r = one_iteration();
  r.mbufs_leaked = 1;
  EXPECT_FALSE(measure_virtual(c, r).ledger_balanced);
  r = one_iteration();
  r.traffic.ledger_balanced = false;
  EXPECT_FALSE(measure_virtual(c, r).ledger_balanced);
  r = one_iteration();
  queue_of(r).arrived[TrafficClass::kDdl] = 10;
  queue_of(r).transmitted[TrafficClass::kDdl] = 7;
  queue_of(r).resident[TrafficClass::kDdl] = 1;
  EXPECT_FALSE(measure_virtual(c, r).ledger_balanced) << "two packets have no end";
  queue_of(r).drops[TrafficClass::kDdl][0] = 2;
  EXPECT_TRUE(measure_virtual(c, r).ledger_balanced);
}

TEST(Metrics, GoodputIsTakenFromTheFirstStartToTheEnd) {
  RunResult r = one_iteration();  // START at 98
  deliver(r, TrafficClass::kBackground, 0, 98, 5'000);
  deliver(r, TrafficClass::kBackground, 98, 200, 1'000);
  const CaseMetrics m = measure_virtual(make_case("off"), r);
  EXPECT_DOUBLE_EQ(m.measured_from_seconds, 0.098);
  EXPECT_DOUBLE_EQ(m.background_goodput_bits_per_second, 8e6);
}

TEST(Metrics, BackgroundThatEndsBeforeTheFirstStartIsSilent) {
  const Case without = make_case("off");
  std::vector<Case> with(3, without);
  with[0].traffic.long_flows.emplace_back();
  with[1].traffic.flows.emplace_back();
  with[2].traffic.captures.emplace_back();
  Case asks = with[0];
  asks.traffic.requests.emplace_back();
  RunResult r = one_iteration();  // START at 98
  deliver(r, TrafficClass::kBackground, 0, 98, 5'000);
  for (const Case& c : with) EXPECT_TRUE(measure_virtual(c, r).background_silent);
  EXPECT_FALSE(measure_virtual(without, r).background_silent) << "it has none";
  EXPECT_FALSE(measure_virtual(asks, r).background_silent) << "an answer may be under way";
  deliver(r, TrafficClass::kBackground, 199, 200, 1);
  for (const Case& c : with) EXPECT_FALSE(measure_virtual(c, r).background_silent);
  r.traffic.bins.clear();
  for (const Case& c : with)
    EXPECT_FALSE(measure_virtual(c, r).background_silent) << "there is no record of it";
}

TEST(Metrics, BackgroundDipAndRecovery) {
  // Base RTT 1 ms: goodput is over 10 bins.
  RunResult r = make_result(200);
  add_burst(r, 0, 0, {.due = 105, .start = 100, .first = 106, .delivered = 118});
  deliver(r, TrafficClass::kBackground, 0, 200, 1'000);
  deliver(r, TrafficClass::kBackground, 100, 120, 200);
  BackgroundDip dip = measure_virtual(make_case("off", 1), r).background_dip;
  EXPECT_DOUBLE_EQ(dip.lowest_share.mean, 0.2);
  // At 130 the last ten bins are full again; at 129 they hold 92 %.
  EXPECT_DOUBLE_EQ(dip.recovery_seconds.mean, 0.025) << "from due";
  EXPECT_EQ(dip.not_recovered, 0U);

  deliver(r, TrafficClass::kBackground, 100, 200, 900);
  dip = measure_virtual(make_case("off", 1), r).background_dip;
  EXPECT_EQ(dip.not_recovered, 1U);
  EXPECT_EQ(dip.recovery_seconds.count, 0U);
}

TEST(Metrics, ClockOffsetIsTheMedianOfJoinedBursts) {
  RunResult r = make_result(1000);
  for (std::uint32_t i = 0; i < 5; ++i) {
    add_burst(r, 0, i, {.due = 100.0 * (i + 1), .first = 100.0 * (i + 1), .delivered = -1});
    // The switch's clock is 70 ms ahead. One first packet was lost and came late, one was
    // recorded early.
    const double noise = i == 0 ? 200 : i == 3 ? -20 : 0;
    add_queue_burst(r, 0, i, 100.0 * (i + 1) + 70 + noise, 0, 0);
  }
  add_queue_burst(r, 9, 0, 5'000, 0, 0);  // nobody sent it
  const QueueReport* queue = find_queue(r.switches, "leaf.up");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(clock_offset_ns(Runtime::kLoopback, queue, r.traffic), 70 * kMs);
  EXPECT_EQ(clock_offset_ns(Runtime::kVirtual, queue, r.traffic), 0) << "one clock";
  EXPECT_EQ(clock_offset_ns(Runtime::kLoopback, nullptr, r.traffic), 0);
}

TEST(Metrics, PollGapsFlagIterationsInRealTime) {
  RunResult r = one_iteration();
  const Case c = make_case("off");  // 60 packets x 1538 B at 8 Mbit/s: 92.28 ms
  // The iteration lasts from its START to its last delivery: 98 to 150 ms, and 1 ms later on the
  // switch's clock.
  const auto flagged = [&](const PollGap& switch_gap, const PollGap& generator_gap) {
    r.switches.poll_gaps = {switch_gap};
    r.traffic.poll_gaps = {generator_gap};
    return measure(c, Runtime::kLoopback, r).noise.iterations_flagged;
  };
  const PollGap none{0, 0};
  EXPECT_NEAR(measure(c, Runtime::kLoopback, r).noise.tolerated_gap_seconds, 9.228e-3, 1e-9);
  EXPECT_EQ(flagged(none, {120 * kMs, 10 * kMs}), 1U);
  EXPECT_EQ(flagged(none, {120 * kMs, 9 * kMs}), 0U) << "tolerated";
  EXPECT_EQ(flagged(none, {88 * kMs, 10 * kMs}), 1U) << "until START";
  EXPECT_EQ(flagged(none, {88 * kMs - 1, 10 * kMs}), 0U) << "over before START";
  EXPECT_EQ(flagged({151 * kMs, 10 * kMs}, none), 1U);
  EXPECT_EQ(flagged({151 * kMs + 1, 10 * kMs}, none), 0U) << "after the last delivery";
  // All kept gaps are longer than tolerated, so there may have been more than were kept.
  r.traffic.poll_gaps.assign(PollGaps::kKept, {190 * kMs, 10 * kMs});
  EXPECT_EQ(measure(c, Runtime::kLoopback, r).noise.iterations_flagged, 1U);
  EXPECT_EQ(measure_virtual(c, r).noise.iterations_flagged, 0U);
}

TEST(Metrics, FlaggedIterationsAreLeftOutWhenAsked) {
  RunResult r = one_iteration();
  r.traffic.poll_gaps = {{r.traffic.bursts.at(0).due_ns, 10 * kMs}};
  const Case c = make_case("off");
  const CaseMetrics kept = measure(c, Runtime::kLoopback, r);
  EXPECT_EQ(kept.noise.iterations_excluded, 0U);
  EXPECT_EQ(kept.samples.communication_seconds.size(), 1U);
  EXPECT_FALSE(kept.samples.max_queue_packets.empty());
  const CaseMetrics left = measure(c, Runtime::kLoopback, r, Flagged::kExcluded);
  EXPECT_EQ(left.noise.iterations_excluded, 1U);
  EXPECT_EQ(left.iterations, 1U);
  EXPECT_EQ(left.push_bursts, 0U);
  EXPECT_TRUE(left.samples.communication_seconds.empty());
  EXPECT_TRUE(left.samples.iteration_seconds.empty());
  EXPECT_TRUE(left.samples.max_queue_packets.empty());
}

TEST(Metrics, OfNothing) {
  const CaseMetrics m = measure_virtual(Case{}, RunResult{});
  EXPECT_EQ(m.iterations, 0U);
  EXPECT_FALSE(m.queue.found);
  EXPECT_FALSE(m.ledger_balanced);
  EXPECT_TRUE(std::isnan(m.background_goodput_bits_per_second));
  EXPECT_TRUE(std::isnan(references_of(Case{}, RunResult{}, nullptr).ideal));
}

// -- references

TEST(References, OfTwoWorkersAtTheBottleneck) {
  // 100,000 B in 70 segments of up to 1448 B, each with 66 B of headers and 24 B of
  // layer 1: 106,300 B per worker, 212.6 ms for two at 8 Mbit/s. Two flows of background
  // leave half of it.
  const References ref = references_of(make_case("off"), one_iteration(), nullptr);
  EXPECT_NEAR(ref.ideal, 0.2136, 1e-9);
  EXPECT_NEAR(ref.fair, 0.4262, 1e-9);
  EXPECT_TRUE(std::isnan(ref.alone));
}

TEST(References, AWorkerThatDoesNotCrossTheQueueIsNotInIt) {
  RunResult r = one_iteration();
  queue_of(r).bursts.pop_back();
  EXPECT_NEAR(references_of(make_case("off"), r, nullptr).ideal, 0.1073, 1e-9);
}

TEST(References, ANicMayBeTheBottleneck) {
  Case c = make_case("off");
  c.traffic.hosts[1].rate = {1'000'000};  // 850.4 ms for worker 1
  const References ref = references_of(c, one_iteration(), nullptr);
  EXPECT_NEAR(ref.ideal, 0.8514, 1e-9);
  EXPECT_NEAR(ref.fair, 0.8514, 1e-9);
}

TEST(References, AloneIsTheMedianOfTheRunWithoutBackground) {
  RunResult alone = make_result(300);
  add_burst(alone, 0, 0, {.due = 1, .first = 1, .delivered = 11});
  add_burst(alone, 0, 1, {.due = 50, .first = 50, .delivered = 70});
  add_burst(alone, 0, 2, {.due = 99, .first = 99, .delivered = 199});
  const References ref = references_of(make_case("off", 1), make_result(1), &alone);
  EXPECT_DOUBLE_EQ(ref.alone, 0.020);
}

}  // namespace
}  // namespace outrider::metrics_test
