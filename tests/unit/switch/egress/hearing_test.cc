// Goal: a queue that hears of other queues' bursts is regulated by them from START to the burst's
// end, by its own expiry and budget, and no other queue is.
#include <gtest/gtest.h>

#include "tests/unit/switch/switch_bench.h"

namespace outrider::hearing_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using B = SwitchBench;

constexpr std::uint32_t kFirst = 100'000;  // sequence number of a burst's first byte
constexpr std::uint16_t kLow = 5;          // h [packets]
/// Of 20 packets at once the first is being sent, and 14 of the others find h or more.
constexpr std::uint64_t kMarked = 14;

/// Returns a switch whose ports serve DDL data, queue 0, before background, queue 1.
SwitchConfig hearing(Subscription hears) {
  auto config = B::config();
  config.classes.background_queue = 1;
  config.buffer.total_bytes = 300'000;
  for (auto& port : config.ports) {
    port.scheduler = SchedulerKind::kStrict;
    port.queue.limit_packets = 100;
    port.regulation = {};
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    RegulationPolicy& policy = port.queues[1].regulation;
    policy.mode = RegulationMode::kMark;
    policy.hears = hears;
    policy.recovery = Recovery::kBurstEnd;
    policy.idle_end = 2ms;
    policy.expiry = 10ms;
    policy.budget_share = 1;
  }
  return config;
}

QueueReport background_of(const B& bench, std::uint32_t port, Time now = {}) {
  return bench.report(now).queues[2 * port + 1];
}
std::uint64_t low_marks(const B& bench, std::uint32_t port) {
  return background_of(bench, port)
      .marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold];
}

/// Sends `n` packets to each of east and south, which can be marked.
void fill_both(B& bench, std::uint32_t n, Time now) {
  bench.fill(n, now, "10.0.3.9", Ecn::kEct0);
  bench.fill(n, now, "10.0.4.9", Ecn::kEct0);
}

TEST(Hearing, OfItsOwnBurstsAlone) {
  B bench(hearing(Subscription::kQueue));
  bench.send(B::start(0, kFirst, kLow), Time{});
  fill_both(bench, 20, Time{1us});
  EXPECT_EQ(low_marks(bench, B::kEast), 0U) << "the burst goes to queue 0";
  EXPECT_EQ(background_of(bench, B::kEast).starts_armed, 0U);
}

TEST(Hearing, OfItsPort) {
  B bench(hearing(Subscription::kPort));
  bench.send(B::start(0, kFirst, kLow), Time{});
  fill_both(bench, 20, Time{1us});
  EXPECT_EQ(low_marks(bench, B::kEast), kMarked);
  EXPECT_EQ(low_marks(bench, B::kSouth), 0U) << "the burst leaves by another port";
  EXPECT_EQ(background_of(bench, B::kEast).starts_armed, 1U);
  EXPECT_EQ(background_of(bench, B::kSouth).starts_armed, 0U);
}

TEST(Hearing, OfTheSwitch) {
  B bench(hearing(Subscription::kSwitch));
  bench.send(B::start(0, kFirst, kLow), Time{});
  fill_both(bench, 20, Time{1us});
  EXPECT_EQ(low_marks(bench, B::kEast), kMarked);
  EXPECT_EQ(low_marks(bench, B::kSouth), kMarked);
}

TEST(Hearing, EndsWithTheBurstEverywhere) {
  B bench(hearing(Subscription::kSwitch));
  bench.send(B::start(0, kFirst, kLow), Time{});
  // The burst lasts for longer than the expiry, which counts from its latest payload.
  for (std::uint32_t i = 0; i < 20; ++i)
    bench.send(B::data(0, kFirst + i * B::kPayload), Time{(i + 1) * 1ms});
  fill_both(bench, 20, Time{20ms + 100us});
  EXPECT_GT(low_marks(bench, B::kEast), 0U);
  const auto before = low_marks(bench, B::kSouth);
  EXPECT_GT(before, 0U);
  fill_both(bench, 20, Time{23ms});
  for (const auto port : {B::kEast, B::kSouth}) {
    EXPECT_EQ(background_of(bench, port).recovered_burst_end, 1U) << port;
    EXPECT_EQ(background_of(bench, port).entries_left, 0U) << port;
    EXPECT_EQ(background_of(bench, port, Time{23ms}).regulated_ns, 22'000'000) << port;
  }
  EXPECT_EQ(low_marks(bench, B::kSouth), before);
}

TEST(Hearing, ExpiresWithoutABurst) {
  B bench(hearing(Subscription::kSwitch));
  bench.send(B::start(0, kFirst, kLow), Time{});
  fill_both(bench, 20, Time{11ms});
  EXPECT_EQ(low_marks(bench, B::kEast) + low_marks(bench, B::kSouth), 0U);
  EXPECT_EQ(background_of(bench, B::kSouth).expired, 1U);
  bench.run();
  EXPECT_TRUE(bench.report({}).ledger_balanced);
}

// A queue that a burst goes to, and that hears of its port as well, is told once.
TEST(Hearing, NobodyIsToldTwice) {
  auto config = hearing(Subscription::kPort);
  for (auto& port : config.ports) port.queues[0].regulation = port.queues[1].regulation;
  B bench(config);
  bench.send(B::start(0, kFirst, kLow), Time{});
  for (std::size_t q = 0; q < 2; ++q) {
    const auto report = bench.report({}).queues[2 * B::kEast + q];
    EXPECT_EQ(report.starts_armed, 1U);
    EXPECT_EQ(report.starts_repeated, 0U);
  }
}

TEST(Hearing, WhoIsNotBelievedIsNotHeard) {
  B bench(hearing(Subscription::kSwitch));
  FrameSpec forged = B::start(0, kFirst, kLow);
  forged.flow.source_address = ip("10.0.2.7");  // not listed
  bench.send(forged, Time{});
  fill_both(bench, 20, Time{1us});
  EXPECT_EQ(low_marks(bench, B::kEast) + low_marks(bench, B::kSouth), 0U);
}

// One believed sender announces for ever and sends nothing: each queue that hears gives it the
// share of time that it would have had in its own queue, and no more.
TEST(Hearing, TheBudgetBoundsWhatAnAnnouncerTakesFromEachQueue) {
  auto config = hearing(Subscription::kSwitch);
  for (auto& port : config.ports) {
    RegulationPolicy& policy = port.queues[1].regulation;
    policy.budget_share = policy.budget_queue_share.emplace(0.2);
    policy.budget_window = 10ms;
    policy.expiry = 3ms;
  }
  B bench(config);
  std::uint32_t sequence = kFirst;
  for (Time now{}; now < Time{50ms}; now += 100us) {
    bench.send(B::start(0, sequence += 10'000, kLow), now);
    fill_both(bench, 2, now);
  }
  for (const auto port : {B::kEast, B::kSouth}) {
    const auto queue = background_of(bench, port, Time{60ms});
    EXPECT_LE(queue.regulated_ns, 10'000'000) << "0.2 of each of five windows";
    EXPECT_GE(queue.regulated_ns, 8'000'000);
    EXPECT_GT(queue.starts_refused_budget, 50U);
  }
}

}  // namespace
}  // namespace outrider::hearing_test
