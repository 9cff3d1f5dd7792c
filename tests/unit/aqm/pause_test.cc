// Goal: a port pauses its neighbour at XOFF and lets it go on at XON, renews the pause in time and
// loses nothing below the headroom; a paused transmitter counts its time and its watchdog ends what
// lasts too long. Method: timelines with numbers by hand, and random steps against a model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <random>

#include "common/core/pause_gate.h"
#include "common/core/pause_time.h"
#include "switch/aqm/pause_account.h"

namespace outrider::pause_test {
namespace {

using namespace std::chrono_literals;
using Tell = PauseAccount::Tell;

constexpr PauseAccount::Limits kLimits{
    .xoff_bytes = 3000, .xon_bytes = 1000, .headroom_bytes = 2000, .pause = 100us};

TEST(PauseTime, IsInTimesOf512Bits) {
  EXPECT_EQ(pause_time(0, {10'000'000'000}), 0ns);
  EXPECT_EQ(pause_time(1, {10'000'000'000}), 52ns) << "51.2 ns";
  EXPECT_EQ(pause_time(65535, {10'000'000'000}), 3'355'392ns);
  EXPECT_EQ(pause_time(65535, {400'000'000'000}), 83'885ns) << "83,884.8 ns";
  EXPECT_EQ(pause_time(65535, {1'000'000}), 33'553'920'000ns);
}

TEST(PauseAccount, PausesAtXoffAndResumesAtXon) {
  PauseAccount account(kLimits);
  EXPECT_EQ(account.charge(1500), Tell::kNothing);
  EXPECT_EQ(account.charge(1499), Tell::kNothing) << "2,999 B";
  EXPECT_EQ(account.charge(1), Tell::kPause) << "3,000 B";
  EXPECT_TRUE(account.pauses());
  EXPECT_EQ(account.charge(1500), Tell::kNothing) << "it was told";
  EXPECT_EQ(account.release(1500), Tell::kNothing);
  EXPECT_EQ(account.release(1999), Tell::kNothing) << "1,001 B: between the thresholds";
  EXPECT_TRUE(account.pauses());
  EXPECT_EQ(account.release(1), Tell::kResume) << "1,000 B";
  EXPECT_FALSE(account.pauses());
  EXPECT_EQ(account.charge(1999), Tell::kNothing);
  EXPECT_EQ(account.charge(1), Tell::kPause);
  EXPECT_EQ(account.max_occupancy_bytes(), 4500U);
}

TEST(PauseAccount, RefusesBeyondTheHeadroom) {
  PauseAccount account(kLimits);
  EXPECT_EQ(account.charge(4000), Tell::kPause);
  EXPECT_TRUE(account.admits(1000)) << "5,000 B = 3,000 + 2,000";
  EXPECT_FALSE(account.admits(1001));
  EXPECT_EQ(account.charge(1000), Tell::kNothing);
  EXPECT_FALSE(account.admits(1));
  EXPECT_EQ(account.release(1000), Tell::kNothing);
  EXPECT_TRUE(account.admits(1000));
}

TEST(PauseAccount, RenewsAPauseWhenHalfOfItIsOver) {
  PauseAccount account(kLimits);
  EXPECT_EQ(account.renew_at(), kNever);
  EXPECT_EQ(account.charge(3000), Tell::kPause);
  EXPECT_EQ(account.renew_at(), kNever) << "not sent yet";
  account.on_sent(Time{10us});
  EXPECT_EQ(account.renew_at(), Time{60us});
  account.on_sent(Time{60us});
  EXPECT_EQ(account.renew_at(), Time{110us});
  account.change_pause(40us);
  account.on_sent(Time{65us});
  EXPECT_EQ(account.renew_at(), Time{85us}) << "the link's rate has changed";
  EXPECT_EQ(account.release(3000), Tell::kResume);
  EXPECT_EQ(account.renew_at(), kNever);
  account.on_sent(Time{70us});
  EXPECT_EQ(account.renew_at(), kNever) << "nobody pauses";
}

// -- in shared memory

PauseAccount::Limits shared_limits(SharedBuffer& buffer, std::size_t queue,
                                   std::optional<std::uint64_t> xon_offset_bytes = std::nullopt) {
  return {.headroom_bytes = 2000,
          .pause = 100us,
          .share = {.buffer = &buffer, .queue = queue, .xon_offset_bytes = xon_offset_bytes}};
}

TEST(DynamicPauseAccount, PausesAtAlphaTimesWhatIsFree) {
  for (const double alpha : {1.0, 0.5}) {
    const std::array<SharedBuffer::QueueShare, 1> shares{{{0, alpha}}};
    SharedBuffer buffer(alpha == 1 ? 10'000 : 9'000, shares);
    PauseAccount account(shared_limits(buffer, 0, 2000));
    // alpha 1: 5,000 B beside 5,000 free ones. alpha 1/2: 3,000 beside 6,000.
    const std::uint64_t most = alpha == 1 ? 5000 : 3000;
    while (account.occupancy_bytes() < most) ASSERT_EQ(account.charge(1000), Tell::kNothing);
    EXPECT_EQ(account.charge(1000), Tell::kPause) << "it is in the headroom";
    EXPECT_EQ(buffer.used_bytes(), most);
    EXPECT_EQ(account.charge(1000), Tell::kNothing);
    EXPECT_FALSE(account.admits(1)) << "neither has room";
    EXPECT_EQ(account.max_occupancy_bytes(), most + 2000);
  }
}

TEST(DynamicPauseAccount, ResumesBelowTheOffsetOnceTheHeadroomIsEmpty) {
  const std::array<SharedBuffer::QueueShare, 1> shares{{{0, 1}}};
  SharedBuffer buffer(10'000, shares);
  PauseAccount account(shared_limits(buffer, 0, 2000));
  for (int i = 0; i < 7; ++i) static_cast<void>(account.charge(1000));
  EXPECT_EQ(account.release(1000), Tell::kNothing);
  EXPECT_EQ(account.release(1000), Tell::kNothing);
  EXPECT_EQ(buffer.used_bytes(), 5000U) << "what leaves empties the headroom first";
  EXPECT_EQ(account.release(999), Tell::kNothing) << "4,001 B; 5,999 - 2,000 = 3,999";
  EXPECT_TRUE(account.pauses());
  EXPECT_EQ(account.release(1), Tell::kResume) << "4,000 B; 6,000 - 2,000";
  EXPECT_EQ(account.charge(1000), Tell::kNothing);
  EXPECT_EQ(account.charge(1000), Tell::kPause) << "6,000 B of 5,000";
}

// All of the headroom is there for the next pause, however much memory others have given back.
TEST(DynamicPauseAccount, DoesNotResumeBeforeTheHeadroomIsEmpty) {
  const std::array<SharedBuffer::QueueShare, 2> shares{{{0, 1e6}, {0, 1}}};
  SharedBuffer buffer(10'000, shares);
  buffer.charge(0, 8'000);
  PauseAccount account(shared_limits(buffer, 1, 2000));
  EXPECT_EQ(account.charge(1000), Tell::kNothing);
  EXPECT_EQ(account.charge(1000), Tell::kPause);
  buffer.release(0, 8'000);
  EXPECT_EQ(account.release(999), Tell::kNothing) << "1,001 B, far below 9,000";
  EXPECT_EQ(account.release(1), Tell::kResume);
}

TEST(DynamicPauseAccount, WithoutAnOffsetResumesAtHalfOfTheThreshold) {
  const std::array<SharedBuffer::QueueShare, 1> shares{{{0, 1}}};
  SharedBuffer buffer(9'000, shares);
  PauseAccount account(shared_limits(buffer, 0));
  for (int i = 0; i < 6; ++i) static_cast<void>(account.charge(1000));
  EXPECT_TRUE(account.pauses());
  EXPECT_EQ(account.release(2999), Tell::kNothing) << "3,001 B; 5,999 / 2 = 2,999";
  EXPECT_EQ(account.release(1), Tell::kResume) << "3,000 B; 6,000 / 2";
}

// Each of n accounts has alpha / (1 + n alpha) of the memory, as queues have.
TEST(DynamicPauseAccount, AccountsThatCompetePauseEarlier) {
  const std::array<SharedBuffer::QueueShare, 2> shares{{{0, 1}, {0, 1}}};
  SharedBuffer buffer(9'000, shares);
  PauseAccount first(shared_limits(buffer, 0, 1000)), second(shared_limits(buffer, 1, 1000));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(first.charge(1000), Tell::kNothing);
    EXPECT_EQ(second.charge(1000), Tell::kNothing);
  }
  EXPECT_EQ(first.charge(1000), Tell::kPause) << "3,000 B are a third";
  EXPECT_EQ(second.charge(1000), Tell::kPause);
  EXPECT_EQ(second.release(1000), Tell::kNothing) << "3,000 B; 3,000 - 1,000";
  // What the first gives back is free for the second too, which hears of it at its next packet.
  for (int i = 0; i < 3; ++i) static_cast<void>(first.release(1000));
  EXPECT_FALSE(first.pauses());
  EXPECT_TRUE(second.pauses());
  EXPECT_EQ(second.release(500), Tell::kResume) << "2,500 B; 5,500 - 1,000";
}

TEST(DynamicPauseAccount, AnEmptyOneNeverPauses) {
  const std::array<SharedBuffer::QueueShare, 2> shares{{{0, 1e6}, {0, 1}}};
  SharedBuffer buffer(10'000, shares);
  buffer.charge(0, 9'900);  // lossy packets: the threshold is 100 B
  PauseAccount account(shared_limits(buffer, 1, 5'000));
  EXPECT_EQ(account.charge(1000), Tell::kPause);
  EXPECT_EQ(account.release(500), Tell::kNothing);
  EXPECT_EQ(account.release(500), Tell::kResume);
  EXPECT_EQ(buffer.used_bytes(1), 0U);
}

TEST(DynamicPauseAccount, HoldsWhatAModelHolds) {
  constexpr double kAlphas[] = {0.5, 2};
  const std::array<SharedBuffer::QueueShare, 2> shares{{{0, kAlphas[0]}, {0, kAlphas[1]}}};
  SharedBuffer buffer(20'000, shares);
  std::array<PauseAccount, 2> accounts{PauseAccount(shared_limits(buffer, 0, 1500)),
                                       PauseAccount(shared_limits(buffer, 1, 1500))};
  struct Model {
    std::deque<std::uint32_t> packets;
    std::uint64_t shared = 0, headroom = 0;
    bool pauses = false;
  };
  std::array<Model, 2> models;
  std::mt19937 draw(13);
  std::size_t refused = 0, turns = 0;
  for (int step = 0; step < 40'000; ++step) {
    const std::size_t i = draw() % 2;
    Model& m = models[i];
    const auto free = [&] {
      return static_cast<double>(20'000 - models[0].shared - models[1].shared);
    };
    const bool was = m.pauses;
    Tell told = Tell::kNothing;
    if (draw() % 1000 < (step / 500 % 2 == 0 ? 700U : 300U)) {
      const auto bytes = static_cast<std::uint32_t>(60 + draw() % 1455);
      const bool fits =
          bytes <= free() && static_cast<double>(m.shared + bytes) <= kAlphas[i] * free();
      ASSERT_EQ(accounts[i].admits(bytes), fits || m.headroom + bytes <= 2000);
      if (!accounts[i].admits(bytes)) {
        ++refused;
        continue;
      }
      (fits ? m.shared : m.headroom) += bytes;
      m.packets.push_back(bytes);
      m.pauses |= !fits;
      told = accounts[i].charge(bytes);
    } else if (!m.packets.empty()) {
      const std::uint64_t of_headroom = std::min<std::uint64_t>(m.headroom, m.packets.front());
      m.headroom -= of_headroom;
      m.shared -= m.packets.front() - of_headroom;
      told = accounts[i].release(m.packets.front());
      m.packets.pop_front();
      if (m.headroom == 0 && (m.shared == 0 || static_cast<double>(m.shared) + 1500 <=
                                                   std::floor(kAlphas[i] * free())))
        m.pauses = false;
    }
    ASSERT_EQ(told, was == m.pauses ? Tell::kNothing : m.pauses ? Tell::kPause : Tell::kResume);
    ASSERT_EQ(accounts[i].pauses(), m.pauses);
    ASSERT_EQ(accounts[i].occupancy_bytes(), m.shared + m.headroom);
    ASSERT_EQ(buffer.used_bytes(i), m.shared);
    turns += was != m.pauses;
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(turns, 100U);
}

TEST(PauseAccount, HoldsWhatAModelHolds) {
  PauseAccount account(kLimits);
  std::mt19937 draw(11);
  std::deque<std::uint32_t> packets;
  std::uint64_t held = 0;
  bool paused = false;
  std::size_t refused = 0, turns = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool arrives = draw() % 1000 < (step / 500 % 2 == 0 ? 700U : 300U);
    Tell told = Tell::kNothing;
    if (arrives) {
      const auto bytes = static_cast<std::uint32_t>(60 + draw() % 1455);
      ASSERT_EQ(account.admits(bytes), held + bytes <= 5000);
      if (!account.admits(bytes)) {
        ++refused;
        continue;
      }
      held += bytes;
      packets.push_back(bytes);
      told = account.charge(bytes);
    } else if (!packets.empty()) {
      held -= packets.front();
      told = account.release(packets.front());
      packets.pop_front();
    }
    const bool was = paused;
    if (held >= 3000) paused = true;
    if (held <= 1000) paused = false;
    ASSERT_EQ(told, was == paused ? Tell::kNothing : paused ? Tell::kPause : Tell::kResume);
    ASSERT_EQ(account.pauses(), paused);
    ASSERT_EQ(account.occupancy_bytes(), held);
    turns += was != paused;
  }
  EXPECT_GT(refused, 100U);
  EXPECT_GT(turns, 100U);
}

TEST(PauseGate, PausesUntilTheQuantaAreOver) {
  PauseGate gate;
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(gate.until(), kNever);
  gate.on_frame(100us, Time{10us});
  EXPECT_TRUE(gate.closed());
  EXPECT_EQ(gate.until(), Time{110us});
  gate.settle(Time{109'999ns});
  EXPECT_TRUE(gate.closed());
  gate.settle(Time{500us});
  EXPECT_FALSE(gate.closed()) << "whenever it is asked";
  EXPECT_EQ(gate.paused_for(Time{500us}), 100us);
}

TEST(PauseGate, KeepsItsPausesWithTheirRenewals) {
  SpanLog log;
  PauseGate gate;
  gate.record_in(log);
  gate.on_frame(10us, Time{5us});
  gate.on_frame(Duration::zero(), Time{6us});
  EXPECT_TRUE(log.until(Time{7us}, gate.since()).empty()) << "there is no room";
  log.make_room(2);
  gate.on_frame(10us, Time{10us});
  gate.on_frame(10us, Time{15us});  // renewed
  EXPECT_EQ(log.until(Time{18us}, gate.since()), (std::vector<TimeSpan>{{10'000, 18'000}}));
  gate.settle(Time{40us});
  gate.on_frame(10us, Time{50us});
  gate.on_frame(Duration::zero(), Time{52us});
  gate.on_frame(10us, Time{60us});
  gate.on_frame(Duration::zero(), Time{61us});
  EXPECT_EQ(log.until(Time{70us}, gate.since()),
            (std::vector<TimeSpan>{{10'000, 25'000}, {50'000, 52'000}}))
      << "the first ones";
}

TEST(PauseGate, ANewFrameReplacesTheTime) {
  PauseGate gate;
  gate.on_frame(100us, Time{0us});
  gate.on_frame(100us, Time{50us});
  EXPECT_EQ(gate.until(), Time{150us}) << "not added";
  gate.on_frame(10us, Time{60us});
  EXPECT_EQ(gate.until(), Time{70us}) << "a shorter one too";
  EXPECT_EQ(gate.paused_for(Time{65us}), 65us) << "the one in force counts";
  gate.on_frame(0us, Time{66us});
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(gate.paused_for(Time{1s}), 66us);
  gate.on_frame(0us, Time{67us});
  EXPECT_EQ(gate.paused_for(Time{1s}), 66us) << "there is none to end";
  gate.on_frame(5us, Time{2s});
  gate.on_frame(5us, Time{3s});
  EXPECT_EQ(gate.paused_for(Time{3s} + 2us), 73us) << "66 + 5 + 2";
}

TEST(PauseGate, TheWatchdogCountsFromPauseOrPacketWhicheverIsLater) {
  PauseGate none;
  none.on_frame(100us, Time{0us});
  EXPECT_EQ(none.too_long_at(Time{0us}), kNever);
  PauseGate gate(1ms);
  EXPECT_EQ(gate.too_long_at(Time{0us}), kNever) << "not paused";
  gate.on_frame(100us, Time{200us});
  gate.on_frame(100us, Time{290us});
  EXPECT_EQ(gate.too_long_at(Time{50us}), Time{1200us}) << "renewals do not defer it";
  EXPECT_EQ(gate.too_long_at(Time{300us}), Time{1300us});
  gate.on_frame(100us, Time{400us}, {.left = 1});
  EXPECT_EQ(gate.too_long_at(Time{50us}), Time{1400us}) << "a packet left between the two";
}

TEST(PauseGate, AGapInWhichNothingLeavesDoesNotDeferTheWatchdog) {
  PauseGate gate(1ms);
  const BehindGate stuck{.waits_since = Time{10us}, .left = 7};
  gate.on_frame(1ms, Time{100us}, stuck);
  for (const Time at : {Time{300us}, Time{500us}, Time{700us}}) {
    gate.on_frame(0us, at, stuck);
    EXPECT_FALSE(gate.closed());
    gate.on_frame(1ms, at, stuck);
    EXPECT_EQ(gate.too_long_at(stuck.waits_since), Time{1100us});
  }
  gate.on_frame(0us, Time{800us}, stuck);
  gate.on_frame(1ms, Time{900us}, stuck);
  EXPECT_EQ(gate.too_long_at(stuck.waits_since), Time{1200us}) << "the gap itself does not count";
  gate.on_frame(0us, Time{950us}, stuck);
  gate.on_frame(1ms, Time{960us}, {.waits_since = Time{20us}, .left = 8});
  EXPECT_EQ(gate.too_long_at(Time{20us}), Time{1960us}) << "a packet has left";
}

TEST(PauseGate, OnlyPausesInWhichSomethingWaitsAddUp) {
  PauseGate gate(1ms);
  gate.on_frame(900us, Time{0us}, {.waits_since = Time{0us}});
  gate.settle(Time{900us}, {.waits_since = Time{900us}});  // nothing waits
  gate.on_frame(900us, Time{2ms}, {.waits_since = Time{1ms}});
  EXPECT_EQ(gate.too_long_at(Time{1ms}), Time{3ms});
  gate.settle(Time{5ms}, {.waits_since = Time{1ms}});
  gate.on_frame(900us, Time{6ms}, {.waits_since = Time{1ms}});
  EXPECT_EQ(gate.too_long_at(Time{1ms}), Time{6100us}) << "100 us of the watchdog are left";
  gate.settle(Time{6100us});
  gate.break_out();
  gate.on_frame(0us, Time{6200us}, {.waits_since = Time{6200us}});
  gate.on_frame(900us, Time{6200us}, {.waits_since = Time{6200us}});
  EXPECT_EQ(gate.too_long_at(Time{6200us}), Time{7200us})
      << "once it has broken out, it begins anew";
}

TEST(PauseGate, ABrokenPauseStandsButIsNotObeyed) {
  PauseGate gate(50us);
  gate.on_frame(100us, Time{0us});
  gate.break_out();
  EXPECT_TRUE(gate.paused());
  EXPECT_TRUE(gate.broken_out());
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(gate.too_long_at(Time{0us}), kNever) << "once for each pause";
  gate.on_frame(100us, Time{80us});
  EXPECT_FALSE(gate.closed()) << "renewed by the same neighbour";
  EXPECT_EQ(gate.until(), Time{180us});
  gate.settle(Time{180us});
  EXPECT_FALSE(gate.broken_out());
  gate.on_frame(100us, Time{190us});
  EXPECT_TRUE(gate.closed()) << "a new pause";
  EXPECT_EQ(gate.paused_for(Time{200us}), 190us);
}

}  // namespace
}  // namespace outrider::pause_test
