// Goal: a job, its sender and all senders together keep a queue regulated for at most their
// shares of each fixed window, however entries overlap and whatever they claim to be. Method:
// literal timelines; attackers that try; then a model that accounts for every nanosecond.
#include "switch/regulation/regulator/regulation_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "common/core/random.h"

namespace outrider::regulation_budget_test {
namespace {

using namespace std::chrono_literals;

// Windows of 10 s with half a share have 5 s each.
constexpr Duration kWindow = 10s;

constexpr RegulationBudget::Shares kHalfOfAJob{.job = 0.5};

FlowKey flow_of(std::uint16_t job, std::uint16_t connection = 0, std::uint32_t sender = 0) {
  return {0x0A000100U + sender, 0x0A000300, static_cast<std::uint16_t>(40'000 + connection),
          static_cast<std::uint16_t>(5000 + job)};
}

enum class Step { kAcquire, kRelease };
struct Row {
  Duration at;
  Step step;
  Duration ends;  // kAcquire: when the allowance is used up; == at: refused
  const char* why;
};

TEST(RegulationBudget, FixedWindows) {
  constexpr Row kRows[] = {
      {1s, Step::kAcquire, 6s, "all 5 s are left"},
      {3s, Step::kRelease, {}, "2 s held"},
      {4s, Step::kAcquire, 7s, "3 s are left"},
      {7s, Step::kRelease, {}, "used to the end"},
      {7s, Step::kAcquire, 7s, "refused: nothing left, nothing taken"},
      {9999ms, Step::kAcquire, 9999ms, "refused to the end of the window"},
      {10s, Step::kAcquire, 15s, "the next window begins exactly at 10 s"},
      {11s, Step::kRelease, {}, "1 s held"},
      {18s, Step::kAcquire, 25s,
       "2 s of this window, then 5 s of the next: 4 s left do not end it"},
      {22s, Step::kRelease, {}, "2 s held in [20, 30)"},
      {23s, Step::kAcquire, 26s, "3 s left there"},
      {26s, Step::kRelease, {}, ""},
      {47s, Step::kAcquire, 55s, "windows without a call are skipped; 3 s here, 5 s there"},
      {49s, Step::kRelease, {}, ""},
  };
  for (const std::int64_t windows : {0, 1, 1'000'000}) {  // metamorphic: shifted by whole windows
    const Time zero{kWindow * windows};
    RegulationBudget budget(kHalfOfAJob, kWindow, 4);
    for (const auto& row : kRows) {
      if (row.step == Step::kRelease) budget.release(flow_of(0), zero + row.at);
      else EXPECT_EQ(budget.acquire(flow_of(0), zero + row.at), zero + row.ends) << row.why;
    }
  }
}

// A release may be heard before acquires that precede it in time, when a regulator is behind.
TEST(RegulationBudget, AReleaseAheadOfAnAcquireCountsOnceAndRefillsNothing) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0, 1), Time{1s}), Time{6s});
  budget.release(flow_of(0, 1), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(0, 2), Time{2s}), Time{6s}) << "until 5 s it counted already";
  budget.release(flow_of(0, 2), Time{3s});
  EXPECT_EQ(budget.acquire(flow_of(0, 3), Time{4s}), Time{6s});
  budget.release(flow_of(0, 3), Time{12s});
  EXPECT_EQ(budget.acquire(flow_of(0, 4), Time{6s}), Time{15s}) << "2 s of [10, 20) are used";
  budget.release(flow_of(0, 4), Time{7s});
  EXPECT_EQ(budget.acquire(flow_of(0, 5), Time{13s}), Time{16s}) << "3 s are left there";
  budget.release(flow_of(0, 5), Time{16s});
  EXPECT_EQ(budget.acquire(flow_of(0, 6), Time{17s}), Time{17s});
}

TEST(RegulationBudget, OverlappingEntriesOfAJobCountOnce) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0, 1), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(0, 2), Time{2s}), Time{5s}) << "the clock already runs";
  budget.release(flow_of(0, 1), Time{3s});
  budget.release(flow_of(0, 2), Time{4s});
  EXPECT_EQ(budget.acquire(flow_of(0, 3), Time{6s}), Time{7s}) << "4 s were held, not 5";
}

TEST(RegulationBudget, JobsDoNotShareAnAllowance) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}), Time{5s});
  budget.release(flow_of(0), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(0), Time{5s}), Time{5s}) << "used up";
  EXPECT_EQ(budget.acquire(flow_of(1), Time{5s}), Time{15s})
      << "another server port is another job; 5 s reach the end of its window";
}

TEST(RegulationBudget, ShareOfOneNeverEnds) {
  RegulationBudget budget({}, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{3s}), kNever);
  budget.release(flow_of(0), Time{25s});
  EXPECT_EQ(budget.acquire(flow_of(0), Time{25s}), kNever) << "still nothing to run out of";
}

// Only live accounts cannot be forgotten. There is one for each live entry at most.
TEST(RegulationBudget, TheIdleAccountThatWasUsedLeastRecentlyMakesRoom) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 2);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(1), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(2), Time{1s}), Time{1s}) << "no room for a third live job";
  budget.release(flow_of(0), Time{2s});
  EXPECT_EQ(budget.acquire(flow_of(2), Time{3s}), Time{8s}) << "an idle one is forgotten";
  budget.release(flow_of(1), Time{4s});
  budget.release(flow_of(2), Time{6s});
  EXPECT_EQ(budget.acquire(flow_of(0), Time{6s}), Time{15s}) << "instead of job 1";
  EXPECT_EQ(budget.acquire(flow_of(2), Time{6s}), Time{8s}) << "which was used before job 2";
}

// While one sender's jobs hold all accounts of jobs, those of others find no room. That they
// asked must not keep an account of theirs from ever being used again.
TEST(RegulationBudget, ASenderThatFindsNoRoomTakesNone) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 2);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{1s}), Time{6s});
  EXPECT_EQ(budget.acquire(flow_of(1), Time{1s}), Time{6s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{2s}), Time{2s});
  budget.release(flow_of(0), Time{2s});
  budget.release(flow_of(1), Time{2s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 2), Time{3s}), Time{8s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 3), Time{3s}), Time{8s});
}

TEST(RegulationBudget, WhatAJobHasForgottenItsSenderStillCounts) {
  RegulationBudget budget({.job = 0.5, .sender = 0.6}, kWindow, 1);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}), Time{5s});
  budget.release(flow_of(0), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(1), Time{5s}), Time{6s});
  budget.release(flow_of(1), Time{6s});
  EXPECT_EQ(budget.acquire(flow_of(0), Time{6s}), Time{6s});
}

/// Plays an attacker that announces a burst whenever none is live, for ten windows.
/// @param flow  of its n-th announcement. @return the share of time that the queue was regulated
template <class Flow>
double held_by(RegulationBudget& budget, Flow flow) {
  Duration held{};
  std::uint32_t n = 0;
  for (Time now{}; now < Time{10 * kWindow}; now += 100ms) {
    const FlowKey announced = flow(n++);
    const Time ends = budget.acquire(announced, now);
    if (ends <= now) continue;
    const Time end = std::min(now + 100ms, ends);
    budget.release(announced, end);
    held += end - now;
  }
  return std::chrono::duration<double>(held) / std::chrono::duration<double>(10 * kWindow);
}

constexpr RegulationBudget::Shares kShares{.job = 0.5, .sender = 0.5, .queue = 0.75};

TEST(RegulationBudget, RotatingPortsGainsNothing) {
  for (const std::uint32_t ports : {1U, 2U, 16U, 1000U}) {
    RegulationBudget budget(kShares, kWindow, 64);
    EXPECT_EQ(held_by(budget,
                      [=](std::uint32_t n) {
                        return flow_of(static_cast<std::uint16_t>(n % ports),
                                       static_cast<std::uint16_t>(n));
                      }),
              0.5)
        << ports << " ports";
  }
}

TEST(RegulationBudget, ForgingSendersGainsNothingBeyondTheQueuesShare) {
  for (const std::uint32_t senders : {2U, 16U, 100'000U}) {
    RegulationBudget budget(kShares, kWindow, 64);
    EXPECT_EQ(held_by(budget, [=](std::uint32_t n) { return flow_of(0, 0, n % senders); }), 0.75)
        << senders << " senders";
  }
}

TEST(RegulationBudget, NamingAVictimsPortChargesTheAttacker) {
  RegulationBudget budget(kShares, kWindow, 64);
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{0s}), Time{5s});
  budget.release(flow_of(0, 0, 1), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{5s}), Time{5s}) << "the attacker's is used up";
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 2), Time{5s}), Time{7500ms})
      << "the victim has what the queue has left";
  budget.release(flow_of(0, 0, 2), Time{6s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 2), Time{10s}), Time{15s}) << "and all of the next window";
}

TEST(RegulationBudget, WhatOverlapsCountsOnceForTheQueue) {
  RegulationBudget budget({.job = 0.5, .sender = 0.5, .queue = 0.6}, kWindow, 8);
  for (const std::uint32_t sender : {1U, 2U, 3U})
    EXPECT_EQ(budget.acquire(flow_of(0, 0, sender), Time{0s}), Time{5s});
  for (const std::uint32_t sender : {1U, 2U, 3U}) budget.release(flow_of(0, 0, sender), Time{5s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 4), Time{5s}), Time{6s});
}

TEST(RegulationBudget, APredictionIsChargedToItsDestination) {
  RegulationBudget budget(kShares, kWindow, 8);
  const FlowKey first{0, 10, 0, 0}, second{0, 11, 0, 0};
  EXPECT_EQ(budget.acquire(first, Time{0s}), Time{5s});
  budget.release(first, Time{5s});
  EXPECT_EQ(budget.acquire(first, Time{5s}), Time{5s});
  EXPECT_EQ(budget.acquire(second, Time{5s}), Time{7500ms});
}

constexpr RegulationBudget::Shares kWithSigners{
    .job = 0.5, .sender = 0.5, .queue = 0.75, .signers = {{{0.2, 1}, {0.1, 1}}}};

// 10 s: 2 s of the first signer, 1 s of the second, 4.5 s of all others.
TEST(RegulationBudget, WhatOthersUseUpIsNotASigners) {
  RegulationBudget budget(kWithSigners, kWindow, 64);
  for (const std::uint32_t stranger : {1U, 2U, 3U})
    EXPECT_EQ(budget.acquire(flow_of(0, 0, stranger), Time{0s}), Time{4500ms})
        << "the queue's share less the signers'";
  for (const std::uint32_t stranger : {1U, 2U, 3U})
    budget.release(flow_of(0, 0, stranger), Time{4500ms});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 4), Time{4500ms}), Time{4500ms}) << "used up";
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{5s}, 1), Time{7s}) << "all of the signer's";
  budget.release(flow_of(0, 0, 1), Time{7s}, 1);
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{7s}, 1), Time{7s});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{7s}, 2), Time{8s}) << "the other signer's";
  budget.release(flow_of(0, 0, 1), Time{8s}, 2);
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{8s}, 2), Time{8s});
}

TEST(RegulationBudget, WhatSignersUseUpIsNotOthers) {
  RegulationBudget budget(kWithSigners, kWindow, 64);
  for (std::uint16_t signer = 1; signer <= 2; ++signer) {
    const Time ends = budget.acquire(flow_of(0), Time{0s}, signer);
    EXPECT_EQ(ends, Time{signer == 1 ? 2s : 1s});
    budget.release(flow_of(0), ends, signer);
    EXPECT_EQ(budget.acquire(flow_of(1, 0, 7), Time{2s}, signer), Time{2s})
        << "another source and job gain nothing";
  }
  EXPECT_EQ(budget.acquire(flow_of(0), Time{2s}), Time{6500ms}) << "the same source, unsigned";
}

TEST(RegulationBudget, ASignersJobHasAShareToo) {
  auto shares = kWithSigners;
  shares.job = 0.05;
  RegulationBudget budget(shares, kWindow, 64);
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{0s}, 1), Time{500ms});
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 2), Time{0s}, 1), Time{500ms}) << "of all its sources";
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 1), Time{0s}), Time{500ms}) << "and a sender's is another";
  for (const std::uint32_t sender : {1U, 2U}) budget.release(flow_of(0, 0, sender), Time{500ms}, 1);
  EXPECT_EQ(budget.acquire(flow_of(0, 0, 3), Time{500ms}, 1), Time{500ms});
  EXPECT_EQ(budget.acquire(flow_of(1, 0, 3), Time{500ms}, 1), Time{1s}) << "another job";
}

TEST(RegulationBudget, ASignerWithoutAShareIsRefused) {
  RegulationBudget budget(kWithSigners, kWindow, 64);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}, 3), Time{0s});
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}, kMaxSignerShares), Time{0s});
}

TEST(RegulationBudget, ChangedSharesHoldForWhatASignerHasUsed) {
  RegulationBudget budget(kWithSigners, kWindow, 64);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{0s}, 1), Time{2s});
  budget.release(flow_of(0), Time{1s}, 1);
  auto shares = kWithSigners;
  shares.signers[0].budget_share = 0.3;
  budget.change(shares, kWindow);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{2s}, 1), Time{4s}) << "3 s less 1 s";
  EXPECT_EQ(budget.acquire(flow_of(0), Time{2s}), Time{5500ms}) << "others have 3.5 s now";
}

// A stretch may outlive its window with nothing left of it, if the shares or the window shrank.
// What the next window has left of it says what a further entry may have.
TEST(RegulationBudget, AStretchThatOutlivesAChangeCountsAnewInTheNextWindow) {
  RegulationBudget budget({.job = 0.5, .sender = 0.5, .queue = 0.5}, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{6s}), Time{15s});
  budget.change({.job = 0.3, .sender = 0.3, .queue = 0.3}, kWindow);
  EXPECT_EQ(budget.acquire(flow_of(1), Time{9500ms}), Time{9500ms})
      << "3 s of this window are used";
  EXPECT_EQ(budget.acquire(flow_of(1), Time{11s}), Time{13s}) << "1 s of 3 s is used";
  budget.release(flow_of(1), Time{13s});
  EXPECT_EQ(budget.acquire(flow_of(1), Time{14s}), Time{14s}) << "the first one goes on";
  budget.release(flow_of(0), Time{15s});
  EXPECT_EQ(budget.acquire(flow_of(1), Time{16s}), Time{16s}) << "5 s were used";
  EXPECT_EQ(budget.acquire(flow_of(1), Time{20s}), Time{23s});
}

TEST(RegulationBudget, AStretchThatOutlivesSeveralNewWindowsCountsFromTheLast) {
  RegulationBudget budget(kHalfOfAJob, kWindow, 4);
  EXPECT_EQ(budget.acquire(flow_of(0), Time{1s}), Time{6s});
  budget.change(kHalfOfAJob, 1s);
  EXPECT_EQ(budget.acquire(flow_of(0, 1), Time{4200ms}), Time{4500ms}) << "half of [4 s, 5 s)";
  EXPECT_EQ(budget.acquire(flow_of(0, 2), Time{4700ms}), Time{4700ms});
}

struct Live {
  FlowKey flow;
  Time ends;
  std::uint16_t signer = 0;
};

/// Derives what each account has held, ns by ns, from the list of live entries.
class Ledger {
 public:
  static constexpr Duration kWindow = 1000ns;
  static constexpr std::array<std::int64_t, 3> kAllowances = {300, 400, 600};
  static constexpr RegulationBudget::Shares kShares{.job = 0.3, .sender = 0.4, .queue = 0.6};

  /// Returns whether each of the flow's accounts has something left.
  bool has_left(const FlowKey& flow) {
    for (std::size_t level = 0; level < 3; ++level)
      if (held(level, flow) >= kAllowances[level]) return false;
    return true;
  }
  /// Books [now, now + 1). @return false if an account is overdrawn
  bool book(const std::vector<Live>& live, Time now) {
    bool within = true;
    for (std::size_t level = 0; level < 3; ++level) {
      std::set<std::int64_t*> used;
      for (const Live& l : live) used.insert(&held(level, l.flow));
      for (std::int64_t* held : used) within &= ++*held <= kAllowances[level];
    }
    if ((now + 1ns).time_since_epoch() % kWindow == Duration{}) held_.clear();
    return within;
  }

 private:
  std::int64_t& held(std::size_t level, const FlowKey& flow) {
    const std::uint32_t sender = level == 2 ? 0 : flow.source_address;
    const std::uint32_t port = level == 0 ? flow.destination_port : 0;
    return held_[{level, sender, port}];
  }
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::int64_t> held_;  // [ns]
};

// Random overlapping spans of two jobs of three senders are compared with single nanoseconds.
TEST(RegulationBudget, NeverMoreThanTheSharesInAnyWindow) {
  std::uint64_t refused = 0, ran_out = 0, rolled_over = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    RegulationBudget budget(Ledger::kShares, Ledger::kWindow, 8);
    Ledger ledger;
    std::vector<Live> live;
    for (Time now{}; now < Time{20'000ns}; now += 1ns) {
      std::erase_if(live, [&](const Live& l) {
        const bool out = l.ends <= now;
        if (!out && random.next_u32() % 200 != 0) return false;
        budget.release(l.flow, now);
        ran_out += out;
        return true;
      });
      if (random.next_u32() % 60 == 0 && live.size() < 8) {
        const FlowKey flow =
            flow_of(static_cast<std::uint16_t>(random.next_u32() % 2), 0, random.next_u32() % 3);
        const Time ends = budget.acquire(flow, now);
        ASSERT_EQ(ends > now, ledger.has_left(flow)) << "seed " << seed;
        if (ends > now) live.push_back({flow, ends});
        else ++refused;
        rolled_over += ends != kNever && ends.time_since_epoch() / Ledger::kWindow >
                                             now.time_since_epoch() / Ledger::kWindow;
      }
      ASSERT_TRUE(ledger.book(live, now)) << "seed " << seed;
    }
  }
  EXPECT_GT(refused, 50U);
  EXPECT_GT(ran_out, 50U);
  EXPECT_GT(rolled_over, 10U);
}

/// The same with two signers, and with the time for which the queue is regulated at all.
class SignedLedger {
 public:
  static constexpr Duration kWindow = 1000ns;
  static constexpr std::int64_t kQueue = 600;
  static constexpr RegulationBudget::Shares kShares{
      .job = 0.3, .sender = 0.3, .queue = 0.6, .signers = {{{0.2, 1}, {0.1, 1}}}};

  bool has_left(const FlowKey& flow, std::uint16_t signer) {
    return std::ranges::all_of(accounts_of(flow, signer),
                               [this](const Account& a) { return held_[a] < cap_of(a); });
  }
  /// Books [now, now + 1). @return false if an account or the queue is overdrawn
  bool book(const std::vector<Live>& live, Time now) {
    bool within = true;
    std::set<Account> used;
    for (const Live& l : live)
      for (const Account& a : accounts_of(l.flow, l.signer)) used.insert(a);
    for (const Account& a : used) within &= ++held_[a] <= cap_of(a);
    regulated += !live.empty();
    within &= regulated <= kQueue;
    if ((now + 1ns).time_since_epoch() % kWindow != Duration{}) return within;
    most = std::max(most, regulated);
    regulated = 0;
    held_.clear();
    return within;
  }

  std::int64_t regulated = 0;  ///< in this window [ns]
  std::int64_t most = 0;       ///< in any window

 private:
  enum Kind { kJob, kSender, kOthers, kSigner };
  using Account = std::tuple<Kind, std::uint32_t, std::uint32_t>;

  static std::vector<Account> accounts_of(const FlowKey& f, std::uint16_t signer) {
    if (signer != 0) return {{kJob, signer, f.destination_port}, {kSigner, signer, 0}};
    return {{kJob, f.source_address, f.destination_port},
            {kSender, f.source_address, 0},
            {kOthers, 0, 0}};
  }
  static std::int64_t cap_of(const Account& account) {
    const auto& [kind, who, port] = account;
    if (kind == kSigner) return who == 1 ? 200 : 100;
    return 300;  // of others: 600 less these
  }
  std::map<Account, std::int64_t> held_;  // [ns]
};

// Three senders, two signers that send from the same addresses, and two jobs of each.
TEST(RegulationBudget, NeverMoreThanTheQueuesShareWithSigners) {
  std::array<std::uint64_t, 3> refused{}, ran_out{};
  std::int64_t most = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    RegulationBudget budget(SignedLedger::kShares, SignedLedger::kWindow, 12);
    SignedLedger ledger;
    std::vector<Live> live;
    for (Time now{}; now < Time{20'000ns}; now += 1ns) {
      std::erase_if(live, [&](const Live& l) {
        const bool out = l.ends <= now;
        if (!out && random.next_u32() % 100 != 0) return false;
        budget.release(l.flow, now, l.signer);
        ran_out[l.signer] += out;
        return true;
      });
      if (random.next_u32() % 40 == 0 && live.size() < 12) {
        const FlowKey flow =
            flow_of(static_cast<std::uint16_t>(random.next_u32() % 2), 0, random.next_u32() % 3);
        const auto signer = static_cast<std::uint16_t>(random.next_u32() % 3);
        const Time ends = budget.acquire(flow, now, signer);
        ASSERT_EQ(ends > now, ledger.has_left(flow, signer)) << "seed " << seed;
        if (ends > now) live.push_back({flow, ends, signer});
        else ++refused[signer];
      }
      ASSERT_TRUE(ledger.book(live, now)) << "seed " << seed << " at " << now.time_since_epoch();
    }
    most = std::max(most, ledger.most);
  }
  for (const std::uint64_t n : refused) EXPECT_GT(n, 50U);
  for (const std::uint64_t n : ran_out) EXPECT_GT(n, 20U);
  EXPECT_GT(most, 400) << "more than any of them could alone";
}

}  // namespace
}  // namespace outrider::regulation_budget_test
