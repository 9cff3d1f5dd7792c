// Goal: whatever others announce, a signer with a share of its own is refused by nothing but that
// share, and holds no more than it. Method: a regulator and a flood; then random announcements,
// whose table and time are compared with what is set aside.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_signers_test {
namespace {

using namespace std::chrono_literals;
using V = ArmVerdict;

/// 8 places: 3 of the first signer, 1 of the second, 4 of all others.
RegulationPolicy policy() {
  return {.mode = RegulationMode::kMark,
          .recovery = Recovery::kTimer,
          .hold = 2s,
          .expiry = 4s,
          .budget_share = 0.5,
          .budget_sender_share = 0.5,
          .budget_queue_share = 0.8,
          .budget_window = 10s,
          .max_entries = 8,
          .max_entries_per_sender = 4,
          .lead = 1ms,
          .signers = {{{0.2, 3}, {0.1, 1}}}};
}

StartSignal start(std::uint16_t signer, std::uint32_t source, std::uint32_t sequence = 1,
                  std::optional<Time> due = {}) {
  return {.flow = {0x0A000101U + source, 0x0A000301, 40'000, 5000},
          .sequence = sequence,
          .threshold_packets = 10,
          .due = due,
          .signer = signer};
}

TEST(RegulatorSigners, HavePlacesThatNobodyElseTakes) {
  for (const bool begun : {true, false}) {
    Regulator r(policy());
    const auto due = begun ? std::nullopt : std::optional(Time{3s});
    for (std::uint32_t i = 0; i < 50; ++i)
      static_cast<void>(r.on_start(start(0, i, 1, due), Time{1s}));
    EXPECT_EQ(r.live_entries(), 4U) << "what is not set aside";
    for (std::uint32_t i = 0; i < 3; ++i)
      EXPECT_EQ(r.on_start(start(1, 100 + i, 1, due), Time{1s}), V::kArmed) << i;
    EXPECT_EQ(r.on_start(start(1, 103, 1, due), Time{1s}), V::kRefusedSender);
    EXPECT_EQ(r.on_start(start(2, 110, 1, due), Time{1s}), V::kArmed);
    EXPECT_EQ(r.on_start(start(2, 111, 1, due), Time{1s}), V::kRefusedSender);
    EXPECT_EQ(r.live_entries(), 8U);
    EXPECT_EQ(r.on_start(start(0, 60, 1, due), Time{1s}), begun ? V::kRefusedTable : V::kArmed);
    EXPECT_EQ(r.counters().evicted, begun ? 0U : 47U) << "all but the last of the others";
    for (std::uint32_t i = 0; i < 3; ++i)
      EXPECT_EQ(r.on_start(start(1, 100 + i, 1, due), Time{1s}), V::kRepeated) << i;
  }
}

// A signer's entries that wait are many, and still it is one of the others that makes room.
TEST(RegulatorSigners, OnlyWhatIsNotSetAsideIsEvicted) {
  Regulator r(policy());
  for (std::uint32_t i = 0; i < 3; ++i)
    ASSERT_EQ(r.on_start(start(1, 100 + i, 1, Time{3s}), Time{1s}), V::kArmed);
  for (std::uint16_t i = 0; i < 4; ++i) {
    StartSignal of_one = start(0, 0, 1, Time{3s});
    of_one.flow.source_port = i;
    ASSERT_EQ(r.on_start(of_one, Time{1s}), V::kArmed);
  }
  EXPECT_EQ(r.on_start(start(0, 1, 1, Time{3s}), Time{1s}), V::kArmed);
  EXPECT_EQ(r.counters().evicted, 1U);
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(r.on_start(start(1, 100 + i, 1, Time{3s}), Time{1s}), V::kRepeated) << i;
}

TEST(RegulatorSigners, HaveTimeThatNobodyElseUses) {
  Regulator r(policy());
  std::uint32_t sequence = 0;
  for (Time now{}; now < Time{7s}; now += 100ms, sequence += 100)
    for (std::uint32_t i = 0; i < 8; ++i) static_cast<void>(r.on_start(start(0, i, sequence), now));
  EXPECT_EQ(r.regulated(Time{7s}), 5s) << "0.8 less 0.2 and 0.1 of 10 s";
  EXPECT_EQ(r.on_start(start(0, 9), Time{7s}), V::kRefusedBudget);
  EXPECT_EQ(r.on_start(start(1, 0), Time{7s}), V::kArmed) << "an address that others used up";
  EXPECT_EQ(r.on_start(start(2, 1), Time{9s}), V::kArmed);
  EXPECT_EQ(r.regulated(Time{9999ms}), 7999ms);
  EXPECT_EQ(r.on_start(start(1, 2), Time{9500ms}), V::kRefusedBudget) << "its 2 s are over";
}

// What others announce for a signer's flow, before or after it, does not hold it up.
TEST(RegulatorSigners, AreNotHeldUpByWhatNobodySigned) {
  Regulator r(policy());
  EXPECT_EQ(r.on_start(start(0, 0, 1'000'000), Time{1s}), V::kArmed);
  EXPECT_EQ(r.on_start(start(1, 0, 1000), Time{1s}), V::kArmed) << "behind it";
  EXPECT_EQ(r.counters().replaced, 1U);
  StartSignal other = start(0, 0, 1000);
  other.threshold_packets = 1;
  EXPECT_EQ(r.on_start(other, Time{1s}), V::kStale) << "a stricter copy";
  EXPECT_EQ(r.on_start(start(0, 0, 2'000'000), Time{1s}), V::kStale) << "ahead";
  EXPECT_EQ(r.threshold(Time{1s}), std::optional<std::uint16_t>(10));
  EXPECT_EQ(r.on_start(start(1, 0, 1000), Time{1s}), V::kRepeated);
  EXPECT_EQ(r.on_start(start(1, 0, 999), Time{1s}), V::kStale) << "its own order is kept";
  EXPECT_EQ(r.on_start(start(1, 0, 2000), Time{1s}), V::kArmed);
}

// The same for bursts that have ended, whose last sequence number is remembered.
TEST(RegulatorSigners, AreNotHeldUpByWhatNobodySignedOnceItHasEnded) {
  RegulationPolicy p = policy();
  p.recovery = Recovery::kArrival;
  for (std::uint16_t before = 0; before <= 1; ++before) {
    Regulator r(p);
    const FlowKey flow = start(0, 0).flow;
    EXPECT_EQ(r.on_start(start(before, 0, 1'000'000), Time{1s}), V::kArmed);
    r.on_payload(flow, 1'000'000, 100, false, Time{1s});
    EXPECT_EQ(r.live_entries(), 0U);
    EXPECT_EQ(r.on_start(start(1, 0, 1000), Time{2s}), before == 0 ? V::kArmed : V::kStale);
    if (before == 0) continue;
    EXPECT_EQ(r.on_start(start(1, 0, 1'000'000), Time{2s}), V::kRepeated);
  }
}

// A queue that knows nothing of a signer charges its source.
TEST(RegulatorSigners, AreChargedLikeOthersWithoutAShare) {
  Regulator r(policy());
  for (const std::uint16_t signer : std::array<std::uint16_t, 4>{3, 16, 17, 65535})
    EXPECT_EQ(r.on_start(start(signer, signer), Time{1s}), V::kArmed) << signer;
  EXPECT_EQ(r.on_start(start(0, 1), Time{1s}), V::kRefusedTable);
  EXPECT_EQ(r.on_start(start(1, 1), Time{1s}), V::kArmed);
}

TEST(RegulatorSigners, ArePlacedAnewByAReload) {
  RegulationPolicy p = policy();
  p.signers = {};
  Regulator r(p);
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(r.on_start(start(0, i, 1, Time{5s}), Time{1s}), V::kArmed);
  r.change_policy(policy(), Time{1s});
  for (std::uint32_t i = 0; i < 3; ++i)
    EXPECT_EQ(r.on_start(start(1, 20 + i, 1, Time{5s}), Time{2s}), V::kArmed);
  EXPECT_EQ(r.counters().evicted, 3U) << "of others, who hold more than is theirs";
  EXPECT_EQ(r.on_start(start(0, 30, 1, Time{5s}), Time{2s}), V::kRefusedTable);
  r.change_policy(p, Time{3s});
  EXPECT_EQ(r.live_entries(), 8U);
  EXPECT_EQ(r.on_start(start(1, 23, 1, Time{5s}), Time{3s}), V::kArmed);
  EXPECT_EQ(r.counters().evicted, 4U) << "like anybody's";
  static_cast<void>(r.threshold(Time{5s}));
  EXPECT_EQ(r.counters().budget_exhausted, 3U) << "no share to begin with";
  EXPECT_EQ(r.live_entries(), 5U);
  r.withdraw_all(Time{5s});
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(r.on_start(start(0, 40 + i, 1, Time{9s}), Time{6s}), V::kArmed);
}

/// Plays random announcements of all, waiting and at once. @return the time regulated
Duration play(Regulator& r, std::uint64_t seed, std::uint16_t most_signer,
              std::map<std::uint16_t, std::map<V, int>>& heard) {
  RandomStream random(seed, 0, RandomPurpose::kTest);
  std::array<Duration, 5> until{};
  for (Time now{}; now < Time{50s}; now += 20ms) {
    const auto signer = static_cast<std::uint16_t>(random.next_u32() % (1U + most_signer));
    const std::uint32_t source = random.next_u32() % 40;
    const auto due = random.next_u32() % 2 == 0 ? std::nullopt : std::optional(now + 3s);
    const auto sequence = 1 + static_cast<std::uint32_t>(now.time_since_epoch() / 1ms);
    const V verdict = r.on_start(start(signer, 100U * signer + source, sequence, due), now);
    ++heard[signer][verdict];
    EXPECT_LE(r.live_entries(), 8U);
    if (now.time_since_epoch() % 10s == Duration{})
      until[static_cast<std::size_t>(now.time_since_epoch() / 10s)] = r.regulated(now);
  }
  for (std::size_t w = 1; w < until.size(); ++w) EXPECT_LE(until[w] - until[w - 1], 8s);
  return r.regulated(Time{50s});
}

TEST(RegulatorSigners, KeepTheQueueWithinItsShare) {
  Duration alone{}, together{};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::map<std::uint16_t, std::map<V, int>> heard;
    Regulator r(policy()), without(policy());
    together += play(r, seed, 2, heard);
    EXPECT_EQ(heard[1][V::kRefusedTable] + heard[2][V::kRefusedTable], 0);
    EXPECT_GT(heard[0][V::kRefusedTable], 0);
    EXPECT_GT(heard[1][V::kRefusedSender], 0);
    alone += play(without, seed, 0, heard);
  }
  EXPECT_LE(alone, 10 * 5 * 5s);
  EXPECT_GT(together, alone);
}

}  // namespace
}  // namespace outrider::regulator_signers_test
