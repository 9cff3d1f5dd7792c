// Goal: a ledger accounts for every nanosecond since its burst was ready.
#include "common/core/burst_ledger.h"

#include <gtest/gtest.h>

namespace outrider::burst_ledger_test {
namespace {

constexpr Time at(std::int64_t ns) { return Time{Duration{ns}}; }
constexpr BurstIdentity kBurst{.job = 1, .worker = 2, .iteration = 3};

TEST(BurstLedger, IsNotValidUntilItHasABurst) {
  EXPECT_FALSE(BurstLedger{}.valid());
  EXPECT_FALSE(BurstLedger{}.same_burst(BurstLedger{}));
  const BurstLedger ledger(kBurst, at(0));
  EXPECT_TRUE(ledger.valid());
  EXPECT_TRUE(ledger.same_burst(BurstLedger(kBurst, at(7))));
  BurstIdentity pull = kBurst;
  pull.direction = BurstDirection::kPull;
  EXPECT_FALSE(ledger.same_burst(BurstLedger(pull, at(0))));
}

TEST(BurstLedger, EveryNanosecondIsInOneCategory) {
  BurstLedger ledger(kBurst, at(1'000));
  ledger.advance(at(1'000), BurstTime::kRto);
  ledger.advance(at(1'250), BurstTime::kSignal);
  ledger.advance(at(1'300), BurstTime::kWindow);
  ledger.advance(at(1'301), BurstTime::kWindow);
  EXPECT_EQ(ledger.at(), at(1'301));
  EXPECT_EQ(ledger.times()[BurstTime::kSignal], 250);
  EXPECT_EQ(ledger.times()[BurstTime::kWindow], 51);
  EXPECT_EQ(ledger.times()[BurstTime::kRto], 0);
  EXPECT_EQ(ledger.times().sum(), 301);
}

// From 100 to 1000 the transmitter served 300 ns of background, 50 of signals, 200 of
// this owner, 250 of another, and was free for 100.
TEST(BurstLedger, AWaitIsSplitByWhatWasServed) {
  BurstLedger ledger(kBurst, at(100));
  const ServiceClock::Reading from{.background = Duration{7'000},
                                   .signal = Duration{40},
                                   .ddl = Duration{9'000},
                                   .own = Duration{600}};
  const ServiceClock::Reading until{.background = Duration{7'300},
                                    .signal = Duration{90},
                                    .ddl = Duration{9'450},
                                    .own = Duration{800}};
  ledger.wait(at(1'000), from, until);
  EXPECT_EQ(ledger.times()[BurstTime::kBehindBackground], 300);
  EXPECT_EQ(ledger.times()[BurstTime::kSignal], 50);
  EXPECT_EQ(ledger.times()[BurstTime::kSerialisation], 200);
  EXPECT_EQ(ledger.times()[BurstTime::kBehindDdl], 250);
  EXPECT_EQ(ledger.times()[BurstTime::kHeld], 100);
  EXPECT_EQ(ledger.times().sum(), 900);
  EXPECT_EQ(ledger.at(), at(1'000));
}

}  // namespace
}  // namespace outrider::burst_ledger_test
