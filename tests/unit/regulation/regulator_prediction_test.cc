// Goal: a burst that is predicted from its job's period regulates like an announced one, and
// regulation ends as documented whether or not the burst comes. Method: literal timelines after
// seven bursts one second apart, and jobs with random jitter.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_prediction_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kPredicted_packets = 7;
constexpr int kLearned = 7;  // onsets after which a strict period is known
constexpr std::uint32_t kServer = 0x0A000301;

FlowKey worker(std::uint32_t w, std::uint32_t server = kServer) {
  return {0x0A000101U + w, server, static_cast<std::uint16_t>(40'000 + w), 5000};
}

RegulationPolicy policy(Recovery recovery, PredictFrom from = PredictFrom::kTraffic) {
  return {.mode = RegulationMode::kMark,
          .recovery = recovery,
          .hold = 30ms,
          .idle_end = 5ms,
          .expiry = 100ms,
          .budget_share = 1,
          .lead = 20ms,
          .predict = {.from = from, .threshold_packets = kPredicted_packets, .idle_gap = 50ms}};
}

std::uint64_t ended(const RegulatorCounters& c) {
  return c.recovered_arrival + c.recovered_burst_end + c.recovered_timer + c.expired +
         c.budget_exhausted + c.replaced + c.predictions_missed;
}

/// A regulator that background packets call every millisecond.
class Scene {
 public:
  explicit Scene(const RegulationPolicy& p, Duration shift = {}) : r(p), now_(Time{} + shift) {}

  /// Advances time to `at` since the beginning.
  void until(Duration at, Duration step = 1ms) {
    while (now_ + step <= begin_ + at) look(now_ + step);
    look(begin_ + at);
  }
  /// Plays ten packets of two workers, a millisecond apart.
  void burst(Duration at, std::uint32_t server = kServer, std::uint32_t sequence = 1) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      until(at + i * 1ms);
      r.on_payload(worker(i % 2, server), sequence + i, 100, false, now_);
      check();
    }
  }
  void learn() {
    for (int i = 0; i < kLearned; ++i) burst(i * 1s);
  }
  void start(Duration at, std::uint32_t sequence, std::optional<Duration> due = {}) {
    until(at);
    StartSignal s{worker(0), sequence, 30};
    if (due) s.due = begin_ + *due;
    r.on_start(s, now_);
    check();
  }
  [[nodiscard]] int threshold() { return r.threshold(now_).value_or(0); }
  [[nodiscard]] Duration regulated() const { return r.regulated(now_); }
  [[nodiscard]] const RegulatorCounters& n() const { return r.counters(); }

  Regulator r;

 private:
  void look(Time now) {
    now_ = now;
    static_cast<void>(r.threshold(now));
    check();
  }
  void check() const {
    EXPECT_EQ(n().starts_armed + n().starts_predicted, ended(n()) + r.live_entries());
  }

  Time now_;
  Time begin_ = now_;
};

// Goal: payload of a source that is not believed neither teaches a rhythm nor ends a prediction.
TEST(RegulatorPrediction, LearnsNothingFromSourcesThatAreNotAccepted) {
  Regulator r(policy(Recovery::kArrival));
  for (int i = 0; i < 2 * kLearned; ++i)
    r.on_payload(worker(0), 1, 100, false, Time{i * 1s}, false);
  EXPECT_EQ(r.prediction_counters().onsets, 0U);
  EXPECT_EQ(r.prediction_counters().not_accepted, 2U * kLearned);
  EXPECT_FALSE(r.threshold(Time{2 * kLearned * 1s - 1ms}));

  Scene s(policy(Recovery::kArrival));
  s.learn();
  s.until(kLearned * 1s - 10ms);
  ASSERT_EQ(s.threshold(), kPredicted_packets);
  s.r.on_payload(worker(9), 1, 100, false, Time{kLearned * 1s - 9ms}, false);
  EXPECT_EQ(s.threshold(), kPredicted_packets) << "a stranger is no arrival";
}

TEST(RegulatorPrediction, BeginsItsLeadBeforeTheExpectedBurstAndEndsWithIt) {
  for (const Duration shift : {Duration{0}, Duration{1h}, Duration{365 * 24h}}) {
    Scene s(policy(Recovery::kArrival), shift);
    s.learn();
    EXPECT_EQ(s.n().starts_predicted, 0U);
    s.until(6979ms);
    EXPECT_EQ(s.threshold(), 0);
    s.until(6980ms);
    EXPECT_EQ(s.threshold(), kPredicted_packets) << "a lead before 7 s";
    s.until(6999ms);
    EXPECT_EQ(s.threshold(), kPredicted_packets);
    s.burst(7s);
    EXPECT_EQ(s.threshold(), 0) << "its first packet, of whichever worker";
    EXPECT_EQ(s.n().starts_predicted, 1U);
    EXPECT_EQ(s.n().recovered_arrival, 1U);
    EXPECT_EQ(s.regulated(), 20ms);
    for (int i = 8; i < 12; ++i) s.burst(i * 1s);
    EXPECT_EQ(s.n().starts_predicted, 5U) << "once an iteration";
    EXPECT_EQ(s.n().recovered_arrival, 5U);
    EXPECT_EQ(s.n().starts_armed, 0U);
  }
}

TEST(RegulatorPrediction, BurstEndIsIdleness) {
  Scene s(policy(Recovery::kBurstEnd));
  s.learn();
  s.burst(7s);  // the last packet at 7.009
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.until(7013ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.until(7014ms);
  EXPECT_EQ(s.threshold(), 0);
  EXPECT_EQ(s.n().recovered_burst_end, 1U);
  EXPECT_EQ(s.regulated(), 34ms);
}

// The window clamp is told the burst's destination and the bytes of the previous burst.
TEST(RegulatorPrediction, TellsWhatIsExpected) {
  Scene s(policy(Recovery::kBurstEnd));
  s.learn();
  s.until(6980ms);
  std::vector<Regulator::BegunBurst> told;
  const auto hear = [&told](const Regulator::BegunBurst& b) { told.push_back(b); };
  s.r.tell_begun(hear);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].predicted);
  EXPECT_EQ(told[0].flow.destination_address, kServer);
  EXPECT_EQ(told[0].bytes, 1000U) << "ten of 100";
  s.burst(7s);
  s.r.tell_begun(hear);
  EXPECT_EQ(told.size(), 1U) << "once";
}

// A flow's FIN does not end the other flows of the job's burst.
TEST(RegulatorPrediction, AFinDoesNotEndTheJobsBurst) {
  Scene s(policy(Recovery::kBurstEnd));
  s.learn();
  s.until(7s);
  s.r.on_payload(worker(0), 1, 100, true, Time{7s});
  EXPECT_EQ(s.threshold(), kPredicted_packets);
}

TEST(RegulatorPrediction, TimerCountsFromItsBegin) {
  Scene s(policy(Recovery::kTimer));
  s.learn();
  s.burst(7s);  // [6.980, 7.010)
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.until(7010ms);
  EXPECT_EQ(s.threshold(), 0);
  EXPECT_EQ(s.n().recovered_timer, 1U);
}

TEST(RegulatorPrediction, ABurstThatDoesNotComeIsMissedAndItsJobLetGoAfterThree) {
  Scene s(policy(Recovery::kBurstEnd));
  s.learn();
  s.until(7099ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.until(7100ms);
  EXPECT_EQ(s.threshold(), 0) << "expiry counts from when it was expected";
  EXPECT_EQ(s.n().predictions_missed, 1U);
  s.until(7980ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets) << "the next one is expected all the same";
  s.until(20s);
  EXPECT_EQ(s.n().starts_predicted, 3U);
  EXPECT_EQ(s.n().predictions_missed, 3U);
  EXPECT_EQ(s.n().expired, 0U);
  EXPECT_EQ(s.regulated(), 3 * 120ms);
  EXPECT_EQ(s.r.prediction_counters().ended, 1U);
}

TEST(RegulatorPrediction, ABurstThatComesBeforeTheLeadRegulatesNothing) {
  Scene s(policy(Recovery::kBurstEnd));
  s.learn();
  s.burst(6900ms);
  s.until(7500ms);
  EXPECT_EQ(s.n().starts_predicted, 0U);
  s.until(7879ms);
  EXPECT_EQ(s.threshold(), 0);
  s.until(7880ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets) << "a second after the early one";
}

// There is no timer, so regulation of a queue begins with the first packet after the lead begins.
TEST(RegulatorPrediction, TheFirstPacketAfterTheLeadBeginsIt) {
  Scene s(policy(Recovery::kArrival));
  s.learn();
  s.until(6010ms);
  s.until(6995ms, 985ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.burst(7s);
  EXPECT_EQ(s.regulated(), 5ms);
  Scene alone(policy(Recovery::kArrival));
  alone.learn();
  alone.until(8500ms, 2490ms);  // no packet came until the burst had been given up
  EXPECT_EQ(alone.n().starts_predicted, 0U);
  EXPECT_EQ(alone.threshold(), 0);
  alone.until(8980ms, 480ms);
  EXPECT_EQ(alone.n().starts_predicted, 1U) << "expected at 9 s, after two that were missed";
}

TEST(RegulatorPrediction, JobsAreToldByWhereTheirBurstsGo) {
  Scene s(policy(Recovery::kArrival));
  for (int i = 0; i < kLearned; ++i) {
    s.burst(i * 1s);
    s.burst(i * 1s + 300ms, kServer + 1);
  }
  s.until(6990ms);
  EXPECT_EQ(s.r.live_entries(), 1U);
  s.burst(7s);
  s.until(7280ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets) << "the other job's";
  s.burst(7300ms, kServer + 1);
  EXPECT_EQ(s.n().recovered_arrival, 2U);
}

TEST(RegulatorPrediction, HasABudgetOfItsOwn) {
  RegulationPolicy p = policy(Recovery::kArrival);
  p.budget_share = 0.001;  // 10 ms of 10 s
  Scene s(p);
  s.learn();
  s.burst(7s);
  EXPECT_EQ(s.n().budget_exhausted, 1U);
  EXPECT_EQ(s.regulated(), 10ms);
  s.burst(8s);
  EXPECT_EQ(s.n().starts_refused_budget, 1U);
  EXPECT_EQ(s.n().starts_predicted, 1U);
}

TEST(RegulatorPrediction, AFullTableRefusesIt) {
  RegulationPolicy p = policy(Recovery::kBurstEnd);
  p.max_entries = 1;
  p.expiry = 10s;
  Scene s(p);
  s.learn();
  s.r.on_start({worker(9, kServer + 9), 1, 30}, Time{6500ms});
  s.burst(7s);
  EXPECT_EQ(s.n().starts_refused_table, 1U);
  EXPECT_EQ(s.n().starts_predicted, 0U);
}

// -- from signals

TEST(RegulatorPrediction, FromSignalsALostStartIsMadeUpFor) {
  Scene s(policy(Recovery::kArrival, PredictFrom::kSignals));
  for (std::uint32_t i = 0; i < kLearned; ++i) {
    s.start(i * 1s, 1000 * i);
    s.burst(i * 1s + 2ms, kServer, 1000 * i);
  }
  s.until(6980ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.burst(7s);  // not announced
  EXPECT_EQ(s.threshold(), 0);
  EXPECT_EQ(s.n().starts_predicted, 1U);
}

TEST(RegulatorPrediction, FromSignalsTheStartTakesOver) {
  Scene s(policy(Recovery::kArrival, PredictFrom::kSignals));
  for (std::uint32_t i = 0; i < kLearned; ++i) {
    s.start(i * 1s, 1000 * i);
    s.burst(i * 1s + 2ms, kServer, 1000 * i);
  }
  s.until(6999ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
  s.start(7s, 7000);
  EXPECT_EQ(s.threshold(), 30) << "its own threshold";
  EXPECT_EQ(s.n().replaced, 1U);
  EXPECT_EQ(s.regulated(), 7 * 2ms + 20ms);
}

// START may come at any time before its burst. The due time that it gives counts as the onset.
TEST(RegulatorPrediction, FromSignalsADueTimeIsTheOnset) {
  Scene s(policy(Recovery::kArrival, PredictFrom::kSignals));
  for (std::uint32_t i = 0; i < kLearned; ++i)
    s.start(i * 1s + (i % 3) * 100ms, 1000 * i, i * 1s + 500ms);
  EXPECT_EQ(s.r.prediction_counters().locked, 0U) << "the last has not come yet";
  s.until(6500ms);
  EXPECT_EQ(s.r.prediction_counters().locked, 1U);
  s.until(7479ms);
  EXPECT_EQ(s.r.live_entries(), 0U);
  s.until(7480ms);
  EXPECT_EQ(s.threshold(), kPredicted_packets);
}

// A forged START that is due in 10 s neither ends a prediction nor spoils what is learned,
// whether or not the job's rhythm is known yet.
TEST(RegulatorPrediction, FromSignalsAFarDueTimeSpoilsNothing) {
  Scene s(policy(Recovery::kArrival, PredictFrom::kSignals));
  for (std::uint32_t i = 0; i < kLearned; ++i) {
    s.start(i * 1s, 1000 * i, i * 1s + 100ms);
    s.r.on_start({worker(9), 1000 * i, 30, 1, Time{i * 1s + 10s}}, Time{i * 1s});
    s.burst(i * 1s + 100ms, kServer, 1000 * i);
  }
  EXPECT_EQ(s.r.prediction_counters().locked, 1U) << "by seven true STARTs";
  for (std::uint32_t i = kLearned; i < 12; ++i) {
    s.until(i * 1s + 79ms);
    EXPECT_EQ(s.threshold(), 0) << i;
    s.until(i * 1s + 80ms);
    EXPECT_EQ(s.threshold(), kPredicted_packets) << i;
    s.r.on_start({worker(9), 1000 * i, 30, 1, Time{i * 1s + 10s}}, Time{i * 1s + 80ms});
    EXPECT_EQ(s.threshold(), kPredicted_packets) << i << ": due after the prediction";
    s.start(i * 1s + 90ms, 1000 * i, i * 1s + 100ms);
    EXPECT_EQ(s.threshold(), 30) << i << ": the true one takes its place";
    s.burst(i * 1s + 100ms, kServer, 1000 * i);
  }
  EXPECT_EQ(s.r.prediction_counters().hits, 5U);
  EXPECT_EQ(s.r.prediction_counters().missed, 0U);
}

TEST(RegulatorPrediction, PayloadTeachesNothingThatSignalsShould) {
  Scene s(policy(Recovery::kArrival, PredictFrom::kSignals));
  s.learn();
  s.burst(7s);
  EXPECT_EQ(s.n().starts_predicted, 0U);
  EXPECT_EQ(s.r.prediction_counters().onsets, 0U);
}

// -- as required: found within 10 iterations, kept through 10 % jitter, forgotten at the end

TEST(RegulatorPrediction, FindsHoldsAndLetsGoOfAJobWithTenPercentJitter) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RegulationPolicy p = policy(Recovery::kBurstEnd);
    p.lead = 250ms;  // from the latest to the earliest onset, and a little more
    p.expiry = 250ms;
    Scene s(p);
    RandomStream random(seed, 0, RandomPurpose::kTest);
    constexpr int kBursts = 40;
    std::uint64_t after_ten = 0;
    for (int i = 0; i < kBursts; ++i) {
      s.burst(1s + i * 1s + Duration{random.next_u32() % 200'000'000} - 100ms);
      if (i == 9) after_ten = s.r.prediction_counters().locked;
    }
    EXPECT_EQ(after_ten, 1U) << "seed " << seed;
    EXPECT_EQ(s.r.prediction_counters().locked, 1U) << "seed " << seed << ": held";
    EXPECT_GE(s.n().recovered_burst_end, 30U) << "seed " << seed;
    EXPECT_EQ(s.n().predictions_missed, 0U) << "seed " << seed;
    s.until(60s);
    EXPECT_EQ(s.r.prediction_counters().ended, 1U) << "seed " << seed;
    EXPECT_EQ(s.n().predictions_missed, 3U);
    EXPECT_EQ(s.r.live_entries(), 0U);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace outrider::regulator_prediction_test
