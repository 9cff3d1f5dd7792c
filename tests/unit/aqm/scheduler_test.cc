// Goal: who is served next is what each discipline promises. Method: literal picks,
// shares over 100,000 packets of mixed sizes, and random backlogs against the rule.
#include "switch/aqm/scheduler.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "common/core/random.h"

namespace outrider::scheduler_test {
namespace {

using namespace std::chrono_literals;

using Heads = std::array<std::uint32_t, kMaxQueuesPerPort>;

/// Picks, and serves the head.
std::uint32_t serve(Scheduler& scheduler, QueueMask backlogged, const Heads& heads, Time now) {
  const std::uint32_t q = scheduler.pick(
      backlogged, [&](std::uint32_t i) { return heads[i]; }, now);
  EXPECT_NE(backlogged & (1U << q), 0) << "an empty queue was picked";
  scheduler.served(q, heads[q]);
  return q;
}

Scheduler::Params dwrr(std::vector<double> weights) {
  Scheduler::Params p{.kind = SchedulerKind::kDwrr,
                      .queues = static_cast<std::uint32_t>(weights.size())};
  p.quantum_bytes = dwrr_quanta(weights, 1514);
  return p;
}

TEST(Scheduler, StrictServesTheLowestNumberOfEveryBacklog) {
  Scheduler scheduler({.kind = SchedulerKind::kStrict, .queues = 8});
  for (unsigned mask = 1; mask < 256; ++mask)
    EXPECT_EQ(serve(scheduler, static_cast<QueueMask>(mask), Heads{}, Time{}),
              static_cast<std::uint32_t>(std::countr_zero(mask)));
}

TEST(Scheduler, OneQueueIsAFifo) {
  for (const auto kind :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    Scheduler::Params params{.kind = kind, .queues = 1};
    params.quantum_bytes[0] = 1514;
    Scheduler scheduler(params);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(serve(scheduler, 1, Heads{1514}, Time{}), 0U);
  }
}

// Shreedhar and Varghese's example in small: quanta of 500, frames of 200, 750 and 300.
TEST(Scheduler, DwrrFollowsALiteralRound) {
  Scheduler scheduler(
      {.kind = SchedulerKind::kDwrr, .queues = 3, .quantum_bytes = {500, 500, 500}});
  const Heads heads{200, 750, 300};
  // turn of 0: 200, 200 (100 kept); of 1: 500 is too little; of 2: 300 (200 kept);
  // turn of 0: 600 = 200 x 3; of 1: 1000 - 750 = 250; of 2: 700 = 300, 300 (100 kept)
  for (const std::uint32_t expected : {0U, 0U, 2U, 0U, 0U, 0U, 1U, 2U, 2U, 0U})
    EXPECT_EQ(serve(scheduler, 0b111, heads, Time{}), expected);
}

TEST(Scheduler, DwrrForgetsTheCreditOfAQueueThatRanEmpty) {
  Scheduler scheduler({.kind = SchedulerKind::kDwrr, .queues = 2, .quantum_bytes = {1000, 1000}});
  const Heads heads{100, 1000};
  EXPECT_EQ(serve(scheduler, 0b11, heads, Time{}), 0U);
  EXPECT_EQ(serve(scheduler, 0b10, heads, Time{}), 1U) << "0 ran empty with 900 left";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(serve(scheduler, 0b11, heads, Time{}), 0U);
  EXPECT_EQ(serve(scheduler, 0b11, heads, Time{}), 1U) << "its turn was 1000, not 1900";
}

TEST(Scheduler, PickingAgainChangesNothing) {
  for (const auto kind :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    Scheduler::Params params{.kind = kind, .queues = 4, .quantum_bytes = {1514, 3028, 1514, 1514}};
    params.floors[2] = {.bytes_per_second = 1e6, .depth_bytes = 5000};
    Scheduler once(params), twice(params);
    RandomStream random(4, 0, RandomPurpose::kTest);
    for (int i = 0; i < 10'000; ++i) {
      const auto mask = static_cast<QueueMask>(1 + random.next_u32() % 15);
      Heads heads{};
      for (auto& h : heads) h = 60 + random.next_u32() % 1455;
      const Time now{i * 700ns};
      const auto head_bytes = [&](std::uint32_t q) { return heads[q]; };
      (void)twice.pick(mask, head_bytes, now);
      (void)twice.pick(mask, head_bytes, now);
      ASSERT_EQ(serve(once, mask, heads, now), serve(twice, mask, heads, now)) << i;
    }
  }
}

struct Frames {
  std::uint32_t smallest, range;
};

// All queues are always backlogged; each has its own mix of sizes.
TEST(Scheduler, DwrrSharesAreTheWeightsWithinOnePercent) {
  constexpr std::array<Frames, 4> kFrames{{{60, 1}, {1514, 1}, {60, 1455}, {500, 1015}}};
  for (const auto& weights : std::vector<std::vector<double>>{
           {1, 1, 1, 1}, {1, 2, 4, 8}, {8, 4, 2, 1}, {0.3, 0.7}, {5, 1, 1, 5}}) {
    Scheduler scheduler(dwrr(weights));
    RandomStream random(7, 0, RandomPurpose::kTest);
    const auto next = [&](std::size_t q) {
      return kFrames[q].smallest + random.next_u32() % kFrames[q].range;
    };
    Heads heads{};
    double weight_sum = 0, byte_sum = 0;
    std::array<double, 8> bytes{};
    for (std::size_t q = 0; q < weights.size(); ++q) heads[q] = next(q);
    for (const double w : weights) weight_sum += w;
    const auto all = static_cast<QueueMask>((1U << weights.size()) - 1);
    for (int i = 0; i < 100'000; ++i) {
      const std::uint32_t q = serve(scheduler, all, heads, Time{});
      bytes[q] += heads[q];
      byte_sum += heads[q];
      heads[q] = next(q);
    }
    for (std::size_t q = 0; q < weights.size(); ++q)
      EXPECT_NEAR(bytes[q] / byte_sum / (weights[q] / weight_sum), 1, 0.01) << q;
  }
}

// Random backlogs that come and go: some queue is always served (serve() checks that it
// has a packet), strict never passes a lower number over.
TEST(Scheduler, StaysWorkConservingOnRandomBacklogs) {
  for (const auto kind :
       {SchedulerKind::kStrict, SchedulerKind::kDwrr, SchedulerKind::kStrictFloor}) {
    Scheduler::Params params{.kind = kind, .queues = 8};
    params.quantum_bytes.fill(1514);
    for (auto& floor : params.floors) floor = {.bytes_per_second = 1e7, .depth_bytes = 3000};
    Scheduler scheduler(params);
    RandomStream random(8, static_cast<std::uint32_t>(kind), RandomPurpose::kTest);
    std::array<std::deque<std::uint32_t>, 8> queues;
    std::uint64_t in = 0, out = 0, idle = 0;
    std::array<std::uint64_t, 8> served{};
    for (int i = 0; i < 200'000; ++i) {
      if (random.next_u32() % 100 < (i / 1000 % 2 == 0 ? 55U : 45U)) {
        queues[random.next_u32() % 8].push_back(60 + random.next_u32() % 1455);
        ++in;
        continue;
      }
      QueueMask mask = 0;
      Heads heads{};
      for (std::uint32_t q = 0; q < 8; ++q)
        if (!queues[q].empty()) {
          mask |= static_cast<QueueMask>(1U << q);
          heads[q] = queues[q].front();
        }
      idle += mask == 0;
      if (mask == 0) continue;
      const std::uint32_t q = serve(scheduler, mask, heads, Time{i * 100ns});
      if (kind == SchedulerKind::kStrict) {
        ASSERT_EQ(q, static_cast<std::uint32_t>(std::countr_zero(mask)));
      }
      queues[q].pop_front();
      ++served[q];
      ++out;
    }
    std::uint64_t left = 0;
    for (const auto& q : queues) left += q.size();
    EXPECT_EQ(in, out + left);
    EXPECT_GT(idle, 0U) << "ran empty at times";
    for (const auto n : served) EXPECT_GT(n, 100U);
  }
}

// A link of 1 byte/ns with three backlogged queues, the lowest bands with floors.
class FloorLink {
 public:
  explicit FloorLink(const Scheduler::Params& params) : scheduler_(params) {}

  void run(Time until, QueueMask backlogged, RandomStream& random) {
    while (now_ < until) {
      Heads heads{};
      for (auto& h : heads) h = 60 + random.next_u32() % 1455;
      const std::uint32_t q = serve(scheduler_, backlogged, heads, now_);
      now_ += Duration{heads[q]};
      log_.push_back({now_, q, heads[q]});
    }
  }
  struct Service {
    Time finished;
    std::uint32_t queue, bytes;
  };
  [[nodiscard]] const std::vector<Service>& log() const { return log_; }

 private:
  Scheduler scheduler_;
  Time now_{};
  std::vector<Service> log_;
};

TEST(Scheduler, TheFloorHoldsInEveryWindow) {
  Scheduler::Params params{.kind = SchedulerKind::kStrictFloor, .queues = 3};
  params.floors[1] = {.bytes_per_second = 0.21e9, .depth_bytes = 6000};
  params.floors[2] = {.bytes_per_second = 0.05e9, .depth_bytes = 6000};
  FloorLink link(params);
  RandomStream random(9, 0, RandomPurpose::kTest);
  link.run(Time{20ms}, 0b111, random);

  // Windows of 100 us that start after each service. What may be missing at their ends:
  // an overdrawn frame, a frame in service, and the other floor's depth and frame.
  for (const std::uint32_t q : {1U, 2U}) {
    const double rate = params.floors[q].bytes_per_second * 1e-9;
    const double slack = 2 * 1514 + rate * (6000 + 2 * 1514) / (1 - 0.26);
    double in_window = 0, lowest = 1e9, total = 0;
    std::size_t first = 0;
    const auto& log = link.log();
    for (const auto& s : log) {
      in_window += s.queue == q ? s.bytes : 0;
      total += s.queue == q ? s.bytes : 0;
      for (; s.finished - log[first].finished > 100us; ++first)
        in_window -= log[first].queue == q ? log[first].bytes : 0;
      if (first > 0) lowest = std::min(lowest, in_window);
    }
    EXPECT_GE(lowest, rate * 100'000 - slack) << q;
    EXPECT_NEAR(total / 20e6, rate, 0.01 * rate + 6000 / 20e6) << "and band 0 gets all the rest";
  }
}

TEST(Scheduler, TheLowestBandBorrowsAndPaysNothingForIt) {
  Scheduler::Params params{.kind = SchedulerKind::kStrictFloor, .queues = 3};
  params.floors[0] = {.bytes_per_second = 1e6, .depth_bytes = 1000};  // 1 byte / us
  params.floors[2] = {.bytes_per_second = 1e6, .depth_bytes = 1000};
  Scheduler scheduler(params);
  const Heads heads{1000, 1000, 1000};
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{}), 0U) << "tokens, lowest number";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{1us}), 0U) << "a byte of tokens is enough";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{2us}), 2U) << "0 has overdrawn, 2 has tokens";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{3us}), 2U) << "the byte earned since";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{4us}), 0U) << "nobody has tokens: 0 borrows";
  EXPECT_EQ(serve(scheduler, 0b110, heads, Time{5us}), 1U) << "no floor, but the lowest that waits";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{999us}), 0U) << "borrows still";
  EXPECT_EQ(serve(scheduler, 0b110, heads, Time{1001us}), 1U) << "2 owes until 1002 us";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{1004us}), 0U)
      << "both have repaid, 0 at 1000 us: what it borrowed cost nothing";
  EXPECT_EQ(serve(scheduler, 0b111, heads, Time{1005us}), 2U) << "2 at 1002 us";
}

TEST(Scheduler, ABucketHoldsItsDepthAndNoMore) {
  Scheduler::Params params{.kind = SchedulerKind::kStrictFloor, .queues = 2};
  params.floors[1] = {.bytes_per_second = 1e9, .depth_bytes = 2500};
  Scheduler scheduler(params);
  const Heads heads{1000, 1000};
  const Time year{365 * 24h};
  for (const std::uint32_t expected : {1U, 1U, 1U, 0U})
    EXPECT_EQ(serve(scheduler, 0b11, heads, year), expected);
}

}  // namespace
}  // namespace outrider::scheduler_test
