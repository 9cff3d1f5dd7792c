// Goal: the period of a job is found from traffic alone, kept through jitter, and forgotten
// when the job ends. Method: literal timelines, and jobs with random jitter over many seeds.
#include "switch/regulation/regulator/period_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/core/random.h"

namespace outrider::period_predictor_test {
namespace {

using namespace std::chrono_literals;
using State = PeriodPredictor::State;

constexpr PeriodPredictor::Params kParams{.idle_gap = 10ms, .max_period = 10s};
constexpr std::uint64_t kJob = 7;

/// Plays a burst of 20 packets, 1 ms apart.
void burst(PeriodPredictor& p, std::uint64_t key, Time onset) {
  for (int i = 0; i < 20; ++i) p.on_payload(key, onset + i * 1ms);
}

/// Checks the identities of the counters.
void expect_balanced(const PeriodPredictor& p, std::uint64_t locked_now) {
  const auto& c = p.counters();
  EXPECT_EQ(c.locked, c.ended + c.relearned + locked_now);
  EXPECT_LE(c.early + c.hits, c.onsets);
}

TEST(PeriodPredictor, LocksAStrictPeriodAtTheSeventhOnset) {
  for (const Duration shift : {Duration{0}, Duration{1ns}, Duration{365 * 24h}}) {
    PeriodPredictor p(kParams);
    EXPECT_EQ(p.state_of(kJob, Time{shift}), State::kUnknown);
    for (int i = 0; i < 20; ++i) {
      const Time onset{shift + i * 500ms};
      EXPECT_EQ(p.next_due(onset), i < 7 ? std::nullopt : std::optional(onset)) << i;
      burst(p, kJob, onset);
      EXPECT_EQ(p.state_of(kJob, onset + 20ms), i < 6 ? State::kLearning : State::kLocked) << i;
    }
    const auto next = p.next(Time{shift + 19 * 500ms + 20ms});
    ASSERT_TRUE(next);
    EXPECT_EQ(next->key, kJob);
    EXPECT_EQ(next->period, 500ms);
    EXPECT_EQ(next->due, Time{shift + 20 * 500ms});
    EXPECT_EQ(p.counters().onsets, 20U);
    EXPECT_EQ(p.counters().hits, 13U);
    expect_balanced(p, 1);
  }
}

// The announced instant is learned when it comes; the nearest of several counts.
TEST(PeriodPredictor, AnAnnouncedOnsetIsLearnedInItsTime) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 7; ++i) {
    const Time onset{i * 500ms};
    const Time heard{std::max<Duration>(onset.time_since_epoch() - 300ms, 0ms)};
    EXPECT_TRUE(p.on_announced(kJob, onset + 5s, heard)) << "nothing nearer is known yet";
    EXPECT_FALSE(p.on_announced(kJob, heard + 10'001ms, heard)) << "further than any period";
    EXPECT_TRUE(p.on_announced(kJob, onset, heard));
    EXPECT_FALSE(p.on_announced(kJob, onset + 1ms, heard)) << "the same burst";
    EXPECT_EQ(p.state_of(kJob, onset), i < 6 ? State::kLearning : State::kLocked) << i;
  }
  EXPECT_EQ(p.counters().onsets, 7U);
  EXPECT_EQ(p.next_due(Time{3s}), Time{3500ms});
  EXPECT_FALSE(p.on_announced(kJob, Time{9s}, Time{3s})) << "not the next burst";
  EXPECT_EQ(p.next_due(Time{3s}), Time{3500ms}) << "nothing is counted as missed";
  EXPECT_TRUE(p.on_announced(kJob, Time{3450ms}, Time{3s}));
  EXPECT_EQ(p.counters().hits, 1U);
  EXPECT_EQ(p.counters().missed, 0U);
}

TEST(PeriodPredictor, LetsGoAfterThreeMissedBurstsAndNoSooner) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 10; ++i) burst(p, kJob, Time{i * 1s});
  EXPECT_EQ(p.next_due(Time{10250ms}), Time{10s}) << "overdue by just the tolerance";
  EXPECT_EQ(p.next_due(Time{10251ms}), Time{11s}) << "missed: the next one is expected";
  EXPECT_EQ(p.next_due(Time{11251ms}), Time{12s});
  EXPECT_EQ(p.next_due(Time{12250ms}), Time{12s});
  EXPECT_EQ(p.next_due(Time{12251ms}), std::nullopt) << "three missed";
  EXPECT_EQ(p.counters().missed, 3U);
  EXPECT_EQ(p.counters().ended, 1U);
  EXPECT_EQ(p.state_of(kJob, Time{13s}), State::kLearning);
  // It comes back with another period, so earlier knowledge does not count.
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(p.next_due(Time{20s + i * 300ms}), std::nullopt);
    burst(p, kJob, Time{20s + i * 300ms});
  }
  EXPECT_EQ(p.next_due(Time{22s}), Time{20s + 7 * 300ms});
  expect_balanced(p, 1);
}

TEST(PeriodPredictor, AYearLaterNothingIsDue) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 10; ++i) burst(p, kJob, Time{i * 1s});
  EXPECT_EQ(p.next_due(Time{365 * 24h}), std::nullopt);
  EXPECT_EQ(p.counters().missed, 3U);
}

TEST(PeriodPredictor, HoldsThroughAMissedBurst) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 10; ++i) burst(p, kJob, Time{i * 1s});
  burst(p, kJob, Time{12s});  // 10 and 11 did not come
  EXPECT_EQ(p.next_due(Time{12100ms}), Time{13s});
  EXPECT_EQ(p.counters().missed, 2U);
  EXPECT_EQ(p.counters().hits, 4U);
  burst(p, kJob, Time{13s});
  EXPECT_EQ(p.next_due(Time{13400ms}), Time{14s});
  EXPECT_EQ(p.next(Time{13400ms})->period, 1s);
}

TEST(PeriodPredictor, OnlyMissesInARowEndAJob) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 40; ++i)
    if (i < 10 || i % 3 == 0) burst(p, kJob, Time{i * 1s});  // from 10 on two of three are missing
  EXPECT_EQ(p.next_due(Time{39100ms}), Time{40s});
  EXPECT_EQ(p.counters().missed, 20U);
  EXPECT_EQ(p.counters().ended, 0U);
}

// A job that comes back with the same period is learned from nothing; the pause does not matter.
TEST(PeriodPredictor, AJobThatCameBackIsLearnedFromNothing) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 10; ++i) burst(p, kJob, Time{i * 1s});
  ASSERT_EQ(p.next_due(Time{12251ms}), std::nullopt);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(p.state_of(kJob, Time{13s + i * 1s}), State::kLearning) << i;
    burst(p, kJob, Time{13s + i * 1s});
  }
  EXPECT_EQ(p.state_of(kJob, Time{19500ms}), State::kLocked);
}

TEST(PeriodPredictor, APauseLongerThanAnyPeriodEndsWhatWasLearned) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 6; ++i) burst(p, kJob, Time{i * 1s});
  burst(p, kJob, Time{15001ms});
  EXPECT_EQ(p.state_of(kJob, Time{15100ms}), State::kLearning) << "not six spans, one odd";
}

TEST(PeriodPredictor, FollowsAPeriodThatDriftsWithinTheTolerance) {
  PeriodPredictor p(kParams);
  Time onset{};
  for (int i = 0; i < 10; ++i) burst(p, kJob, onset += 1s);
  for (int i = 0; i < 6; ++i) burst(p, kJob, onset += 1200ms);
  EXPECT_EQ(p.next_due(onset + 100ms), onset + 1200ms);
  EXPECT_EQ(p.counters().missed, 0U);
}

TEST(PeriodPredictor, ARetransmissionAfterATimeOutIsNoOnsetOfItsOwn) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 20; ++i) {
    burst(p, kJob, Time{i * 1s});
    if (i == 8 || i == 11 || i == 12) burst(p, kJob, Time{i * 1s + 220ms});
    if (i < 6) continue;
    EXPECT_EQ(p.next_due(Time{i * 1s + 300ms}), Time{(i + 1) * 1s}) << i;
  }
  EXPECT_EQ(p.counters().early, 3U);
  EXPECT_EQ(p.counters().locked, 1U);
}

TEST(PeriodPredictor, LearnsAnewWhenEveryIterationHasOnsetsBetween) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 10; ++i) burst(p, kJob, Time{i * 1s});
  // From 10 s on the job is twice as fast, so every second burst is early.
  int locked_at = 0;
  for (int i = 0; i < 30; ++i) {
    burst(p, kJob, Time{10s + i * 500ms});
    const auto next = p.next(Time{10s + i * 500ms + 100ms});
    if (next && next->period == 500ms && locked_at == 0) locked_at = i;
  }
  EXPECT_EQ(p.counters().relearned, 1U);
  EXPECT_GT(locked_at, 0);
  EXPECT_LE(locked_at, 14);
  expect_balanced(p, 1);
}

// With two bursts per iteration, 0.3 and 0.7 of it apart, no period is claimed.
TEST(PeriodPredictor, RefusesToLockSeveralBurstsAnIteration) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 50; ++i) {
    burst(p, kJob, Time{i * 1s});
    burst(p, kJob, Time{i * 1s + 300ms});
    EXPECT_EQ(p.next_due(Time{i * 1s + 400ms}), std::nullopt);
  }
  EXPECT_EQ(p.state_of(kJob, Time{50s}), State::kIrregular);
}

TEST(PeriodPredictor, TrafficWithoutPausesHasNoOnsets) {
  PeriodPredictor p(kParams);
  for (int i = 0; i < 100'000; ++i) p.on_payload(kJob, Time{i * 9ms});
  EXPECT_EQ(p.counters().onsets, 1U);
  EXPECT_EQ(p.state_of(kJob, Time{900s}), State::kLearning);
}

enum class Jitter { kOfDueTimes, kOfIterations };

/// Returns the onsets of a job with iterations of 1 s and 10 % jitter of either kind.
std::vector<Time> jittered_onsets(Jitter kind, std::uint64_t seed, int n) {
  RandomStream random(seed, 0, RandomPurpose::kTest);
  std::vector<Time> onsets;
  Time free{};
  for (int i = 0; i < n; ++i) {
    const double draw = random.uniform();
    if (kind == Jitter::kOfDueTimes) onsets.push_back(Time{i * 1s} + from_seconds(0.1 * draw));
    else onsets.push_back(free += from_seconds(0.9 + 0.2 * draw));
  }
  return onsets;
}

TEST(PeriodPredictor, LocksWithinTenIterationsAndHoldsThroughTenPercentJitter) {
  for (const auto kind : {Jitter::kOfDueTimes, Jitter::kOfIterations})
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      PeriodPredictor p(kParams);
      double error_sum = 0;
      const auto onsets = jittered_onsets(kind, seed, 300);
      for (std::size_t i = 0; i < onsets.size(); ++i) {
        const auto due = p.next_due(onsets[i]);
        ASSERT_TRUE(i < 10 || due) << "seed " << seed << " iteration " << i;
        if (due) {
          ASSERT_LE(std::abs(seconds(*due - onsets[i])), 0.25) << seed;
          error_sum += std::abs(seconds(*due - onsets[i]));
        }
        burst(p, kJob, onsets[i]);
      }
      EXPECT_EQ(p.counters().locked, 1U);
      EXPECT_EQ(p.counters().missed, 0U);
      EXPECT_LT(error_sum / 290, 0.1) << "on average within the jitter";
      EXPECT_EQ(p.next_due(onsets.back() + 4s), std::nullopt) << "and it is let go at the end";
    }
}

// For bursts without a period, a period is rarely claimed and soon dropped.
TEST(PeriodPredictor, RandomOnsetsAreHardlyEverLocked) {
  std::uint64_t locked = 0, onsets = 0, predicted = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomStream random(seed, 1, RandomPurpose::kTest);
    PeriodPredictor p(kParams);
    Time now{};
    for (int i = 0; i < 400; ++i) {
      now += 30ms + from_seconds(random.exponential(1.0));
      predicted += p.next_due(now).has_value();
      burst(p, kJob, now);
    }
    locked += p.counters().locked;
    onsets += p.counters().onsets;
  }
  EXPECT_EQ(onsets, 20'000U);
  EXPECT_LT(locked, onsets / 1000);
  EXPECT_LT(predicted, onsets / 100);
}

TEST(PeriodPredictor, TwoJobsAreToldApartByTheirKeys) {
  PeriodPredictor p(kParams);
  struct Due {
    Time at;
    std::uint64_t key;
  };
  std::vector<Due> bursts;
  bursts.reserve(70);
  for (int i = 0; i < 30; ++i) bursts.push_back({Time{i * 1s}, 1});
  for (int i = 0; i < 40; ++i) bursts.push_back({Time{i * 730ms + 100ms}, 2});
  std::ranges::sort(bursts, {}, &Due::at);
  int right = 0, asked = 0;
  for (const Due& b : bursts) {
    if (b.at > Time{10s}) {
      const auto next = p.next(b.at);
      ++asked;
      right += next && next->due == b.at && next->key == b.key;
    }
    p.on_payload(b.key, b.at);
  }
  EXPECT_GT(asked, 40);
  EXPECT_EQ(right, asked);
  expect_balanced(p, 2);
}

TEST(PeriodPredictor, TheTableIsBoundedAndSilentJobsMakeRoom) {
  PeriodPredictor::Params params = kParams;
  params.max_jobs = 2;
  PeriodPredictor p(params);
  for (int i = 0; i < 10; ++i) {
    burst(p, 1, Time{i * 1s});
    p.on_payload(2, Time{i * 1s + 100ms});
    p.on_payload(3, Time{i * 1s + 200ms});
  }
  EXPECT_EQ(p.counters().refused, 10U) << "both places are taken";
  EXPECT_EQ(p.state_of(3, Time{10s}), State::kUnknown);
  p.on_payload(3, Time{19019ms});
  EXPECT_EQ(p.counters().refused, 11U) << "1 has been silent since 9.019 s: not long enough";
  p.on_payload(3, Time{19020ms});
  EXPECT_EQ(p.counters().refused, 11U);
  EXPECT_EQ(p.state_of(1, Time{19020ms}), State::kUnknown) << "the most silent one went";
  EXPECT_EQ(p.state_of(3, Time{19020ms}), State::kLearning);
  EXPECT_EQ(p.next_due(Time{19020ms}), std::nullopt);
  EXPECT_EQ(p.counters().ended, 2U) << "and nobody is locked unnoticed";
  expect_balanced(p, 0);
}

// Data that are repeated much later, in the middle of a burst, count for that burst.
TEST(PeriodPredictor, KnowsHowLongTheLastBurstWas) {
  PeriodPredictor p(kParams);
  p.count(kJob, 1000);  // not known yet
  for (std::uint32_t i = 0; i < 8; ++i) {
    p.on_payload(kJob, Time{i * 1s});
    p.count(kJob, 100 + i);
    p.count(kJob, 50);
  }
  EXPECT_EQ(p.next(Time{7s})->bytes, 157U);
  p.on_payload(kJob, Time{7300ms});
  p.count(kJob, 7);
  EXPECT_EQ(p.counters().early, 1U);
  EXPECT_EQ(p.next(Time{7300ms})->bytes, 164U);
  p.on_payload(kJob, Time{8s});
  p.count(kJob, 9);
  EXPECT_EQ(p.next(Time{8s})->bytes, 9U);
}

TEST(PeriodPredictor, ALockedJobKeepsItsPlace) {
  PeriodPredictor::Params params = kParams;
  params.max_jobs = 1;
  PeriodPredictor p(params);
  for (int i = 0; i < 10; ++i) burst(p, 1, Time{i * 8s});
  p.on_payload(2, Time{72s + 11s});
  EXPECT_EQ(p.counters().refused, 1U) << "silent for 10.981 s, but one miss is no end";
  EXPECT_EQ(p.next_due(Time{83s}), Time{88s});
}

}  // namespace
}  // namespace outrider::period_predictor_test
