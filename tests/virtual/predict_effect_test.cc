// Goal: without any signal, the queue is regulated in time for a burst as soon as the job's
// period is known. Jitter needs a longer lead. After the job's end the queue is not regulated.
// Method: the same seeds with and without prediction.
#include <string>

#include "tests/virtual/regulation_effect.h"

namespace outrider::predict_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

constexpr std::uint32_t kJobIterations = 16;
constexpr std::uint32_t kKnownFrom = 10;  ///< earlier iterations are for learning the period
/// Twice the period of other effects, so that the pause between bursts exceeds their time-outs.
constexpr Duration kJobPeriod = 2 * kPeriod;

struct Seen {
  double start_packets = 0;  ///< background at a burst's first packet, once the period is known
  double unknown_start_packets = 0;
  double communication_ms = 0;
  QueueReport queue;
};

class PredictEffect : public testing::Test {
 protected:
  Seen run_of(const Change& change, std::uint64_t seed) {
    Dumbbell d;
    d.seed = seed;
    d.job.iterations = kJobIterations;
    d.job.first_due = kFirstDue;
    d.job.period = kJobPeriod;
    d.job.announce.lead_source = LeadSource::kNone;
    change(d);
    EXPECT_TRUE(validate(d.switches()).empty());
    Simulation simulation(d.switches(), d.traffic(), *pool_);
    simulation.run_until(Time{} + kFirstDue + kJobPeriod * (kJobIterations + 6));
    const RunResult r = simulation.result();
    EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
    EXPECT_EQ(r.traffic.bursts.size(), kJobIterations);
    Seen seen;
    seen.queue = bottleneck_of(r);
    for (const auto& b : seen.queue.bursts) {
      const bool known = b.identity.iteration >= kKnownFrom;
      const double found = b.start_packets[TrafficClass::kBackground];
      if (known) seen.start_packets += found / (kJobIterations - kKnownFrom);
      else seen.unknown_start_packets += found / kKnownFrom;
    }
    for (const auto& b : r.traffic.bursts)
      if (b.identity.iteration >= kKnownFrom)
        seen.communication_ms += outrider::seconds(Duration{b.delivered_ns - b.due_ns}) * 1e3 /
                                 (kJobIterations - kKnownFrom);
    return seen;
  }
  Mempool pool_ = make_test_pool();
  std::uint32_t seeds_ = seeds(2, 20);
};

void off(Dumbbell&) {}
Change predicts(Duration lead) {
  return [lead](Dumbbell& d) {
    auto& policy = d.bottleneck_port.regulation;
    policy.mode = RegulationMode::kMark;
    policy.recovery = Recovery::kBurstEnd;
    policy.spare_ddl = true;
    policy.idle_end = milliseconds(20);
    policy.expiry = milliseconds(150);
    policy.lead = lead;
    policy.predict = {.from = PredictFrom::kTraffic, .idle_gap = milliseconds(300)};
  };
}
Change holds_windows_predicted(Duration lead) {
  return [lead](Dumbbell& d) {
    predicts(lead)(d);
    d.bottleneck_port.regulation.mode = RegulationMode::kWindow;
  };
}
Change with_jitter(const Change& change) {
  return [change](Dumbbell& d) {
    d.job.due_jitter = kJobPeriod / 10;
    change(d);
  };
}

TEST_F(PredictEffect, FindsAShorterQueueWithoutAnySignal) {
  Seen sum_off, sum_on;
  for (std::uint64_t seed = 1; seed <= seeds_; ++seed) {
    const Seen without = run_of(off, seed);
    const Seen with = run_of(predicts(milliseconds(20)), seed);
    const QueueReport& q = with.queue;
    EXPECT_EQ(q.starts_armed, 0U);
    EXPECT_EQ(q.predictor.locked, 1U) << "seed " << seed;
    EXPECT_EQ(q.starts_predicted, kJobIterations - 7 + 3) << "and three that did not come";
    EXPECT_EQ(q.predictions_missed, 3U);
    EXPECT_EQ(q.predictor.ended, 1U);
    EXPECT_EQ(q.entries_left, 0U);
    EXPECT_GT(q.marks[TrafficClass::kBackground][MarkReason::kRegulatedThreshold], 0U);
    sum_off.start_packets += without.start_packets;
    sum_off.communication_ms += without.communication_ms;
    sum_on.start_packets += with.start_packets;
    sum_on.communication_ms += with.communication_ms;
  }
  const double n = seeds_;
  const std::string figures =
      "start queue [packets] off " + std::to_string(sum_off.start_packets / n) + " predict " +
      std::to_string(sum_on.start_packets / n) + ", communication [ms] off " +
      std::to_string(sum_off.communication_ms / n) + " predict " +
      std::to_string(sum_on.communication_ms / n);
  RecordProperty("figures", figures);
  SCOPED_TRACE(figures);
  EXPECT_LT(sum_on.start_packets, 0.6 * sum_off.start_packets);
  EXPECT_LT(sum_on.communication_ms, sum_off.communication_ms);
}

// Windows are also held for a burst that was not announced. The queue is short, and the burst is
// faster than with marks. Its end is known from the previous burst. Predictions after the last
// burst take nothing from the background.
TEST_F(PredictEffect, HoldsWindowsWithoutAnySignal) {
  double start_off = 0, start = 0, marked_ms = 0, held_ms = 0;
  for (std::uint64_t seed = 1; seed <= seeds_; ++seed) {
    const Seen without = run_of(off, seed);
    const Seen marks = run_of(predicts(milliseconds(20)), seed);
    const Seen with = run_of(holds_windows_predicted(milliseconds(20)), seed);
    const QueueReport& q = with.queue;
    EXPECT_EQ(q.starts_armed, 0U);
    EXPECT_EQ(q.starts_predicted, kJobIterations - 7 + 3) << "and three that did not come";
    EXPECT_EQ(q.entries_left, 0U);
    EXPECT_GT(q.window.answers[WindowReason::kHeld], 1000U);
    EXPECT_GE(q.window.releases, kJobIterations - 7 + 3);
    start_off += without.start_packets;
    start += with.start_packets;
    marked_ms += marks.communication_ms;
    held_ms += with.communication_ms;
  }
  const std::string figures = "start queue [packets] off " + std::to_string(start_off) + " held " +
                              std::to_string(start) + ", communication [ms] marked " +
                              std::to_string(marked_ms) + " held " + std::to_string(held_ms) +
                              ", sums over " + std::to_string(seeds_) + " seeds";
  RecordProperty("figures", figures);
  SCOPED_TRACE(figures);
  EXPECT_LT(start, 0.6 * start_off);
  EXPECT_LT(held_ms, 0.95 * marked_ms);
}

// Bursts come up to a tenth of a period late. The prediction stays in step, and a lead as long
// as the jitter covers every burst.
TEST_F(PredictEffect, HoldsThroughTenPercentJitter) {
  double start_off = 0, start_on = 0;
  for (std::uint64_t seed = 1; seed <= seeds_; ++seed) {
    const Seen without = run_of(with_jitter(off), seed);
    const Seen with = run_of(with_jitter(predicts(milliseconds(130))), seed);
    EXPECT_EQ(with.queue.predictor.locked, 1U) << "seed " << seed;
    EXPECT_EQ(with.queue.predictor.relearned, 0U);
    EXPECT_GE(with.queue.recovered_burst_end, kJobIterations - kKnownFrom - 1);
    start_off += without.start_packets;
    start_on += with.start_packets;
  }
  EXPECT_LT(start_on, 0.8 * start_off) << start_on << " against " << start_off;
}

}  // namespace
}  // namespace outrider::predict_effect_test
