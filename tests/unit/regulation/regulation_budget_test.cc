// Goal: a job keeps a queue regulated for at most its share of each fixed window, however
// its entries overlap. Method: literal timelines; then a model that accounts for every
// nanosecond.
#include "common/regulation/regulation_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/core/random.h"

namespace outrider::regulation_budget_test {
namespace {

using namespace std::chrono_literals;

// Windows of 10 s with half a share have 5 s each.
constexpr Duration kWindow = 10s;

FlowKey worker_of(std::uint16_t job, std::uint32_t worker = 0) {
  return {0x0A000100U + worker, 0x0A000300, static_cast<std::uint16_t>(40'000 + worker),
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
    RegulationBudget budget(0.5, kWindow, 4);
    for (const auto& row : kRows) {
      if (row.step == Step::kRelease) budget.release(worker_of(0), zero + row.at);
      else EXPECT_EQ(budget.acquire(worker_of(0), zero + row.at), zero + row.ends) << row.why;
    }
  }
}

TEST(RegulationBudget, OverlappingEntriesOfAJobCountOnce) {
  RegulationBudget budget(0.5, kWindow, 4);
  EXPECT_EQ(budget.acquire(worker_of(0, 1), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(worker_of(0, 2), Time{2s}), Time{5s}) << "the clock already runs";
  budget.release(worker_of(0, 1), Time{3s});
  budget.release(worker_of(0, 2), Time{4s});
  EXPECT_EQ(budget.acquire(worker_of(0, 3), Time{6s}), Time{7s}) << "4 s were held, not 5";
}

TEST(RegulationBudget, JobsDoNotShareAnAllowance) {
  RegulationBudget budget(0.5, kWindow, 4);
  EXPECT_EQ(budget.acquire(worker_of(0), Time{0s}), Time{5s});
  budget.release(worker_of(0), Time{5s});
  EXPECT_EQ(budget.acquire(worker_of(0), Time{5s}), Time{5s}) << "used up";
  EXPECT_EQ(budget.acquire(worker_of(1), Time{5s}), Time{15s})
      << "another server port is another job; 5 s reach the end of its window";
}

TEST(RegulationBudget, ShareOfOneNeverEnds) {
  RegulationBudget budget(1, kWindow, 4);
  EXPECT_EQ(budget.acquire(worker_of(0), Time{3s}), kNever);
  budget.release(worker_of(0), Time{25s});
  EXPECT_EQ(budget.acquire(worker_of(0), Time{25s}), kNever) << "still nothing to run out of";
}

TEST(RegulationBudget, IdleJobsOfEarlierWindowsMakeRoom) {
  RegulationBudget budget(0.5, kWindow, 2);
  EXPECT_EQ(budget.acquire(worker_of(0), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(worker_of(1), Time{0s}), Time{5s});
  EXPECT_EQ(budget.acquire(worker_of(2), Time{1s}), Time{1s}) << "no room for a third live job";
  budget.release(worker_of(0), Time{2s});
  EXPECT_EQ(budget.acquire(worker_of(2), Time{3s}), Time{3s})
      << "forgetting a job within its window would give it a fresh allowance";
  EXPECT_EQ(budget.acquire(worker_of(2), Time{12s}), Time{17s}) << "in the next one it may go";
}

// Random overlapping spans of three jobs are compared with single nanoseconds.
TEST(RegulationBudget, NeverMoreThanTheShareInAnyWindow) {
  constexpr Duration kShort = 1000ns;
  constexpr std::int64_t kAllowance = 300;
  std::uint64_t refused = 0, ran_out = 0, rolled_over = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    RegulationBudget budget(0.3, kShort, 8);
    struct Live {
      FlowKey flow;
      Time ends;
    };
    std::vector<Live> live;
    std::map<std::pair<std::uint16_t, std::int64_t>, std::int64_t> held;  // (job, window) -> ns
    for (Time now{}; now < Time{100'000ns}; now += 1ns) {
      std::erase_if(live, [&](const Live& l) {
        const bool out = l.ends <= now;
        if (!out && random.next_u32() % 200 != 0) return false;
        budget.release(l.flow, now);
        ran_out += out;
        return true;
      });
      if (random.next_u32() % 60 == 0) {
        const auto job = static_cast<std::uint16_t>(random.next_u32() % 3);
        const FlowKey flow = worker_of(job, random.next_u32() % 4);
        const Time ends = budget.acquire(flow, now);
        const std::int64_t window = now.time_since_epoch() / kShort;
        const bool any_live = std::ranges::any_of(
            live, [&](const Live& l) { return l.flow.destination_port == flow.destination_port; });
        if (!any_live) {
          ASSERT_EQ(ends <= now, (held[{job, window}]) >= kAllowance) << "seed " << seed;
        }
        if (ends > now) live.push_back({flow, ends});
        else ++refused;
        rolled_over += ends > Time{(window + 1) * kShort};
      }
      for (std::uint16_t job = 0; job < 3; ++job) {  // book [now, now + 1)
        const bool holds = std::ranges::any_of(
            live, [&](const Live& l) { return l.flow.destination_port == 5000 + job; });
        if (!holds) continue;
        const std::int64_t window = now.time_since_epoch() / kShort;
        ASSERT_LE(++held[std::make_pair(job, window)], kAllowance) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(ran_out, 100U);
  EXPECT_GT(rolled_over, 100U);
}

}  // namespace
}  // namespace outrider::regulation_budget_test
