// Goal: each burst is announced once, at its first byte until the period is known and
// `lead` ahead of it from then on. Method: onsets at literal instants.
#include "tools/hostagent/burst_announcer.h"

#include <gtest/gtest.h>

namespace outrider::burst_announcer_test {
namespace {

using namespace agent;

using namespace std::chrono_literals;

constexpr Duration kPeriod = 100ms, kLead = 5ms;
constexpr std::uint64_t kFlow = 3;

Time at(Duration t) { return Time{t}; }

BurstAnnouncer::Params params(Duration lead) {
  return {.lead = lead, .predictor = {.idle_gap = 2ms, .max_period = 10s}};
}

/// With onsets at 0, 1, ... n - 1 periods.
BurstAnnouncer after_onsets(std::uint32_t n, Duration lead = kLead) {
  BurstAnnouncer announcer(params(lead));
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto a = announcer.on_onset(kFlow, at(i * kPeriod), at(i * kPeriod + 20us));
    EXPECT_TRUE(a) << i;
    EXPECT_EQ(a->iteration, i);
    EXPECT_EQ(a->due_in, 0ns);
    EXPECT_FALSE(a->predicted);
  }
  return announcer;
}

constexpr std::uint32_t kLocks = PeriodPredictor::kIntervals + 1;  // onsets

TEST(BurstAnnouncer, AnnouncesAtTheFirstByteUntilThePeriodIsKnown) {
  BurstAnnouncer announcer = after_onsets(kLocks - 1);
  EXPECT_EQ(announcer.wake_at(), kNever);
  EXPECT_FALSE(announcer.take(at(10 * kPeriod)));
}

TEST(BurstAnnouncer, AnnouncesAheadOnceItIs) {
  BurstAnnouncer announcer = after_onsets(kLocks);
  const Duration due = kLocks * kPeriod;
  EXPECT_EQ(announcer.wake_at(), at(due - kLead));
  EXPECT_FALSE(announcer.take(at(due - kLead - 1ns)));
  const auto a = announcer.take(at(due - kLead + 50us));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->flow, kFlow);
  EXPECT_EQ(a->iteration, kLocks);
  EXPECT_EQ(a->due_in, kLead - 50us);
  EXPECT_TRUE(a->predicted);
  EXPECT_FALSE(announcer.take(at(due - kLead + 60us))) << "once";
  EXPECT_FALSE(announcer.on_onset(kFlow, at(due + 1ms), at(due + 1ms))) << "it was announced";
  EXPECT_EQ(announcer.counters().met, 1U);
  EXPECT_EQ(announcer.counters().ahead, 1U);
  EXPECT_EQ(announcer.counters().at_first_byte, kLocks);
  EXPECT_EQ(announcer.counters().onsets, kLocks + 1);
}

TEST(BurstAnnouncer, ABurstThatDoesNotComeCostsNothingButItsNumber) {
  BurstAnnouncer announcer = after_onsets(kLocks);
  const Duration due = kLocks * kPeriod;
  ASSERT_TRUE(announcer.take(at(due - kLead)));
  const auto next = announcer.take(at(due + kPeriod - kLead));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->iteration, kLocks + 1);
  EXPECT_FALSE(announcer.on_onset(kFlow, at(due + kPeriod), at(due + kPeriod)));
  EXPECT_EQ(announcer.counters().met, 1U);
  EXPECT_EQ(announcer.counters().ahead, 2U);
}

TEST(BurstAnnouncer, WithoutLeadItNeverForetells) {
  BurstAnnouncer announcer = after_onsets(2 * kLocks, 0s);
  EXPECT_FALSE(announcer.take(at(2 * kLocks * kPeriod)));
}

TEST(BurstAnnouncer, FollowsAToldLeadWithinItsBounds) {
  BurstAnnouncer::Params p = params(kLead);
  p.lead_limit = 20ms;
  BurstAnnouncer announcer(p);
  for (std::uint32_t i = 0; i < kLocks; ++i)
    (void)announcer.on_onset(kFlow, at(i * kPeriod), at(i * kPeriod));
  const Duration due = kLocks * kPeriod;
  EXPECT_EQ(announcer.wake_at(), at(due - kLead)) << "until somebody tells one";
  for (const auto& [told, followed] :
       {std::pair{12ms, 12ms}, {1ms, 5ms}, {1'000'000ms, 20ms}, {0ms, 5ms}, {20ms, 20ms}}) {
    EXPECT_TRUE(announcer.take_lead(told));
    EXPECT_EQ(announcer.wake_at(), at(due - followed));
  }
  EXPECT_FALSE(announcer.take(at(due - 20ms - 1ns)));
  EXPECT_TRUE(announcer.take(at(due - 20ms)));
}

TEST(BurstAnnouncer, IgnoresAToldLeadUnlessItIsBounded) {
  BurstAnnouncer announcer = after_onsets(kLocks);
  EXPECT_FALSE(announcer.take_lead(50ms));
  EXPECT_EQ(announcer.wake_at(), at(kLocks * kPeriod - kLead));
}

TEST(BurstAnnouncer, FlowsAreLearnedApart) {
  BurstAnnouncer announcer = after_onsets(kLocks);
  const auto other = announcer.on_onset(kFlow + 1, at(kLocks * kPeriod), at(kLocks * kPeriod));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->flow, kFlow + 1);
  EXPECT_EQ(other->iteration, 0U);
}

TEST(BurstAnnouncer, AForgottenFlowIsNotAnnouncedAheadAndComesBackAsANewOne) {
  BurstAnnouncer announcer = after_onsets(kLocks);
  announcer.forget(kFlow);
  EXPECT_FALSE(announcer.take(at(kLocks * kPeriod)));
  EXPECT_EQ(announcer.counters().ahead, 0U);
  const auto a = announcer.on_onset(kFlow, at(kLocks * kPeriod), at(kLocks * kPeriod));
  ASSERT_TRUE(a);
  EXPECT_EQ(a->iteration, 0U);
}

}  // namespace
}  // namespace outrider::burst_announcer_test
