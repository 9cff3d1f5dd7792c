// Goal: the regulator uses the optional values of a START: when the burst is due, so that
// regulation begins just before, and how many bytes it has, so that regulation ends with the
// last one. Method: literal timelines with one event per row; `expect` is the threshold in
// force right after it.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_announced_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kNone = 0;  // not regulated
constexpr Duration kUnsaid{-1};

FlowKey worker(std::uint32_t w) {
  return {0x0A000101U + w, 0x0A000301, static_cast<std::uint16_t>(40'000 + w), 5000};
}

RegulationPolicy policy(Recovery recovery) {
  return {.mode = RegulationMode::kMark,
          .recovery = recovery,
          .hold = 10ms,
          .idle_end = 5ms,
          .expiry = 50ms,
          .budget_share = 1,
          .budget_window = 10s,
          .max_entries = 8,
          .lead = 4ms};
}

enum class What { kStart, kData, kLook };
struct Row {
  Duration at;
  What what;
  std::uint32_t worker;
  std::uint32_t sequence;
  std::uint32_t arg;  // kStart: threshold; kData: payload bytes
  std::uint16_t expect;
  const char* why;
  Duration due_in = kUnsaid;  // kStart
  std::uint64_t bytes = 0;    // kStart; 0: not said
};

std::uint64_t ended(const RegulatorCounters& c) {
  return c.recovered_arrival + c.recovered_burst_end + c.recovered_timer + c.expired +
         c.budget_exhausted + c.replaced + c.evicted;
}

void play(Regulator& regulator, std::span<const Row> rows, Duration shift) {
  for (const auto& row : rows) {
    const Time now{shift + row.at};
    if (row.what == What::kStart) {
      StartSignal start{worker(row.worker), row.sequence, static_cast<std::uint16_t>(row.arg)};
      if (row.due_in != kUnsaid) start.due = now + row.due_in;
      if (row.bytes != 0) start.bytes = row.bytes;
      regulator.on_start(start, now);
    } else if (row.what == What::kData) {
      regulator.on_payload(worker(row.worker), row.sequence, row.arg, false, now);
    }
    EXPECT_EQ(regulator.threshold(now).value_or(kNone), row.expect)
        << row.why << " (at " << row.at.count() << " ns, shifted by " << shift.count() << ")";
    const RegulatorCounters& c = regulator.counters();
    ASSERT_EQ(c.starts_armed, ended(c) + regulator.live_entries()) << row.why;
  }
}

/// Plays a timeline, and again an hour and a year (of whole windows) later. @return the counters
/// of the first
RegulatorCounters play_shifted(const RegulationPolicy& p, std::span<const Row> rows,
                               Duration regulated) {
  RegulatorCounters first;
  for (const Duration shift : {Duration{0}, Duration{1h}, Duration{365 * 24h}}) {
    Regulator regulator(p);
    play(regulator, rows, shift);
    EXPECT_EQ(regulator.regulated(Time{shift + 1s}), regulated) << shift.count();
    if (shift == Duration{}) first = regulator.counters();
  }
  return first;
}

// -- when the burst is due

TEST(RegulatorDue, BeginsALeadBeforeAndEndsAsEver) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "due at 20 ms: begins at 16", 20ms},
      {1ms, What::kStart, 0, 1000, 10, kNone, "a copy, a little delayed", 19'000'001ns},
      {15'999'999ns, What::kLook, 0, 0, 0, kNone, "1 ns short"},
      {16ms, What::kLook, 0, 0, 0, 10, "a lead before"},
      {21ms, What::kData, 0, 1000, 1460, kNone, "the burst is here"},
      {22ms, What::kStart, 0, 9000, 10, 10, "due sooner than the lead: at once", 3ms},
      {23ms, What::kData, 0, 9000, 1, kNone, "and ends"},
      {24ms, What::kStart, 1, 1000, 10, 10, "does not say when: at once"},
      {25ms, What::kData, 1, 1000, 1, kNone, "and ends"},
  };
  const auto n = play_shifted(policy(Recovery::kArrival), kRows, 7ms);
  EXPECT_EQ(n.recovered_arrival, 3U);
  EXPECT_EQ(n.starts_repeated, 1U);
}

TEST(RegulatorDue, IsNotAskedWithoutALead) {
  constexpr Row kRows[] = {{0ms, What::kStart, 0, 1000, 10, 10, "with START", 20ms}};
  RegulationPolicy p = policy(Recovery::kArrival);
  p.lead.reset();
  play_shifted(p, kRows, 50ms);
}

TEST(RegulatorDue, ABurstBeforeItsTimeNeedsNoRegulation) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "begins at 16 ms", 20ms},
      {5ms, What::kData, 0, 1000, 1460, kNone, "early: it is over"},
      {16ms, What::kLook, 0, 0, 0, kNone, "nothing begins"},
      {17ms, What::kStart, 0, 1000, 10, kNone, "and its START is remembered", 2ms},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kArrival), kRows, 0ms).recovered_arrival, 1U);
}

// An early burst that pauses is over; one that continues is regulated from its due time on.
TEST(RegulatorDue, AnEarlyBurstThatGoesOnIsRegulatedFromItsTime) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "begins at 16 ms", 20ms},
      {0ms, What::kStart, 1, 1000, 5, kNone, "begins at 16 ms as well", 20ms},
      {10ms, What::kData, 1, 1000, 1460, kNone, "early, and then nothing: over at 15 ms"},
      {12ms, What::kData, 0, 1000, 1460, kNone, "early"},
      {16ms, What::kLook, 0, 0, 0, 10, "in its burst"},
      {16'999'999ns, What::kLook, 0, 0, 0, 10, "1 ns short of its idle end"},
      {17ms, What::kLook, 0, 0, 0, kNone, "5 ms without payload"},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kBurstEnd), kRows, 1ms).recovered_burst_end, 2U);
}

TEST(RegulatorDue, ExpiryAndHoldCountFromTheBegin) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "begins at 96 ms, later than expiry", 100ms},
      {96ms, What::kLook, 0, 0, 0, 10, "waited"},
      {145'999'999ns, What::kLook, 0, 0, 0, 10, "1 ns short of expiry"},
      {146ms, What::kLook, 0, 0, 0, kNone, "expired"},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kArrival), kRows, 50ms).expired, 1U);
  constexpr Row kHeld[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "begins at 96 ms", 100ms},
      {1ms, What::kData, 0, 1000, 1460, kNone, "payload matters not"},
      {96ms, What::kLook, 0, 0, 0, 10, "begun"},
      {105'999'999ns, What::kLook, 0, 0, 0, 10, "1 ns short of hold"},
      {106ms, What::kLook, 0, 0, 0, kNone, "held"},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kTimer), kHeld, 10ms).recovered_timer, 1U);
}

TEST(RegulatorDue, EntriesComposeByMinimumAsTheyBegin) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 5, kNone, "begins at 20 ms", 24ms},
      {0ms, What::kStart, 1, 1000, 20, kNone, "begins at 10 ms", 14ms},
      {10ms, What::kLook, 0, 0, 0, 20, "the later asks for nothing yet"},
      {20ms, What::kLook, 0, 0, 0, 5, "now it does"},
      {21ms, What::kData, 1, 1000, 1, 5, "the milder ends"},
      {22ms, What::kStart, 0, 2000, 30, kNone, "a newer one replaces, and waits", 10ms},
      {28ms, What::kLook, 0, 0, 0, 30, "begun"},
      {30ms, What::kData, 0, 2000, 1, kNone, "ended"},
  };
  const auto n = play_shifted(policy(Recovery::kArrival), kRows, 14ms);
  EXPECT_EQ(n.replaced, 1U);
}

// A forged START that says "later" or "shorter" does not keep the true one from its effect.
TEST(RegulatorDue, TheEarlierBeginAndTheLongerBurstHold) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "forged: a byte in 10 s", 10s, 1},
      {1ms, What::kStart, 0, 1000, 10, kNone, "the true one: begins at 17 ms", 20ms, 3000},
      {2ms, What::kStart, 0, 1000, 10, kNone, "forged again", 10s, 1},
      {16'999'999ns, What::kLook, 0, 0, 0, kNone, "1 ns short"},
      {17ms, What::kLook, 0, 0, 0, 10, "as the true one says"},
      {21ms, What::kData, 0, 1000, 1460, 10, "more than a byte"},
      {22ms, What::kData, 0, 2460, 1540, kNone, "its last"},
      {30ms, What::kStart, 0, 9000, 10, kNone, "forged", 10s},
      {31ms, What::kStart, 0, 9000, 10, 10, "the true one does not say when: at once"},
      {32ms, What::kData, 0, 9000, 100, 10, "in the burst"},
      {37ms, What::kLook, 0, 0, 0, kNone, "idle"},
  };
  const auto n = play_shifted(policy(Recovery::kBurstEnd), kRows, 5ms + 6ms);
  EXPECT_EQ(n.starts_tightened, 2U);
  EXPECT_EQ(n.starts_repeated, 1U);
}

// The regulator is not called for a second. Begins and ends are as exact as if it had been.
TEST(RegulatorDue, WhatNobodySawBeganAndEndedInTime) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "6 to 56 ms", 10ms},
      {0ms, What::kStart, 1, 1000, 10, kNone, "36 to 86 ms", 40ms},
      {0ms, What::kStart, 2, 1000, 10, kNone, "196 to 246 ms", 200ms},
      {500ms, What::kLook, 0, 0, 0, kNone, "all over"},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kArrival), kRows, 130ms).expired, 3U);
  Regulator unseen(policy(Recovery::kArrival));
  play(unseen, std::span(kRows).first(3), {});
  EXPECT_EQ(unseen.regulated(Time{6ms}), 0ms);
  EXPECT_EQ(unseen.regulated(Time{50ms}), 44ms) << "a report in the middle";
  EXPECT_EQ(unseen.regulated(Time{200ms}), 84ms);
  EXPECT_EQ(unseen.live_entries(), 3U) << "and it has changed nothing";
}

// The budget of a window of 100 ms is 30 ms. Waiting for the burst uses none of it.
TEST(RegulatorDue, BudgetIsChargedFromTheBegin) {
  RegulationPolicy p = policy(Recovery::kArrival);
  p.budget_share = p.budget_queue_share.emplace(0.3);
  p.budget_window = 100ms;
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, kNone, "begins at 56 ms", 60ms},
      {0ms, What::kStart, 1, 1000, 20, kNone, "begins at 90 ms", 94ms},
      {56ms, What::kLook, 0, 0, 0, 10, "nothing is used yet"},
      {85'999'999ns, What::kLook, 0, 0, 0, 10, "1 ns short"},
      {86ms, What::kLook, 0, 0, 0, kNone, "30 ms are used"},
      {90ms, What::kLook, 0, 0, 0, kNone, "the other does not begin"},
      {99ms, What::kStart, 2, 1000, 10, kNone, "due in the next window", 10ms},
      {105ms, What::kLook, 0, 0, 0, 10, "which has its own allowance"},
      {106ms, What::kData, 2, 1000, 1, kNone, "over"},
  };
  const auto n = play_shifted(p, kRows, 31ms);
  EXPECT_EQ(n.budget_exhausted, 2U) << "one ended, one that did not begin";
  EXPECT_EQ(n.starts_refused_budget, 0U);
}

TEST(RegulatorDue, WhatWaitsTakesAPlaceInTheTable) {
  RegulationPolicy p = policy(Recovery::kArrival);
  p.max_entries = 2;
  Regulator regulator(p);
  for (const std::uint32_t w : {0U, 1U})
    EXPECT_EQ(regulator.on_start({worker(w), 1, 10, {}, Time{1s}}, Time{}), ArmVerdict::kArmed);
  FlowKey another = worker(1);
  ++another.source_port;
  EXPECT_EQ(regulator.on_start({another, 1, 10, {}, Time{1s}}, Time{}), ArmVerdict::kRefusedSender);
  EXPECT_EQ(regulator.on_start({worker(2), 1, 10, {}, Time{1s}}, Time{}), ArmVerdict::kArmed)
      << "a sender that has none takes the place of the oldest that waits";
  EXPECT_EQ(regulator.counters().evicted, 1U);
  EXPECT_EQ(regulator.threshold(Time{996ms}), 10) << "both begin";
  EXPECT_EQ(regulator.on_start({worker(3), 1, 10}, Time{997ms}), ArmVerdict::kRefusedTable)
      << "what has begun is not evicted";
  EXPECT_EQ(regulator.live_entries(), 2U);
}

// One source announces as many bursts as it can, all due in 10 s, from ever new ports.
TEST(RegulatorDue, FarOffBurstsKeepNobodyOut) {
  RegulationPolicy p = policy(Recovery::kArrival);
  p.max_entries = 1024;
  Regulator regulator(p);
  for (const std::uint32_t forged : {1U, 1000U}) {  // senders
    for (std::uint32_t i = 0; i < 5000; ++i)
      regulator.on_start({{0x0B000000 + i % forged, 0x0A000301, static_cast<std::uint16_t>(i),
                           static_cast<std::uint16_t>(i)},
                          1,
                          10,
                          {},
                          Time{10s}},
                         Time{});
    for (std::uint32_t w = 0; w < 64; ++w)
      EXPECT_EQ(regulator.on_start({worker(w), forged, 10, {}, Time{20ms}}, Time{}),
                ArmVerdict::kArmed)
          << w;
  }
  EXPECT_EQ(regulator.live_entries(), 1024U);
  EXPECT_EQ(regulator.threshold(Time{16ms}), 10);
}

std::vector<std::uint32_t> told(Regulator& regulator, Time now) {
  static_cast<void>(regulator.threshold(now));
  std::vector<std::uint32_t> sequences;
  regulator.tell_begun(
      [&sequences](const Regulator::BegunBurst& b) { sequences.push_back(b.sequence); });
  return sequences;
}

// The window clamp is told of each burst once, as its regulation begins, and of no burst that
// was over or replaced before.
TEST(RegulatorDue, TellsWhatHasBegunOnce) {
  using Sequences = std::vector<std::uint32_t>;
  Regulator regulator(policy(Recovery::kBurstEnd));
  regulator.on_start({worker(0), 1000, 10, 5000, Time{20ms}}, Time{});  // begins at 16 ms
  regulator.on_start({worker(1), 2000, 10, 100, Time{30ms}}, Time{});   // at 26
  regulator.on_start({worker(2), 3000, 10, {}, Time{40ms}}, Time{});    // at 36
  EXPECT_EQ(told(regulator, Time{15'999'999ns}), Sequences{});
  EXPECT_EQ(told(regulator, Time{16ms}), Sequences{1000});
  EXPECT_EQ(told(regulator, Time{17ms}), Sequences{}) << "once";
  regulator.on_start({worker(3), 4000, 10}, Time{18ms});
  EXPECT_EQ(told(regulator, Time{18ms}), Sequences{4000}) << "does not say when: at once";
  regulator.on_payload(worker(1), 2000, 100, false, Time{19ms});
  regulator.on_start({worker(2), 9000, 10, {}, Time{45ms}}, Time{20ms});
  EXPECT_EQ(told(regulator, Time{40ms}), Sequences{}) << "one was early, one is replaced";
  EXPECT_EQ(told(regulator, Time{41ms}), Sequences{9000});
  EXPECT_EQ(regulator.counters().replaced, 1U);
}

// -- how many bytes it has

TEST(RegulatorBytes, BurstEndComesWithTheLastAnnouncedByte) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "3000 bytes from 1000", kUnsaid, 3000},
      {1ms, What::kData, 0, 500, 500, 10, "before the burst"},
      {2ms, What::kData, 0, 1000, 1460, 10, "first segment"},
      {3ms, What::kData, 0, 1000, 1460, 10, "sent again: no further"},
      {4ms, What::kData, 0, 2460, 1460, 10, "up to 3920"},
      {5ms, What::kData, 0, 3920, 79, 10, "1 byte short"},
      {6ms, What::kData, 0, 3999, 1, kNone, "the last"},
      {7ms, What::kData, 0, 3999, 1, kNone, "sent again"},
      {8ms, What::kStart, 0, 1000, 10, kNone, "a late copy", kUnsaid, 3000},
      {9ms, What::kStart, 0, 4000, 10, 10, "does not say how many"},
      {10ms, What::kData, 0, 4000, 1460, 10, "so it may go on"},
      {15ms, What::kLook, 0, 0, 0, kNone, "until it is idle"},
      {20ms, What::kStart, 0, 9000, 10, 10, "says too many", kUnsaid, 100'000},
      {21ms, What::kData, 0, 9000, 1460, 10, "its only segment"},
      {26ms, What::kLook, 0, 0, 0, kNone, "ends by idleness as before"},
  };
  EXPECT_EQ(play_shifted(policy(Recovery::kBurstEnd), kRows, 18ms).recovered_burst_end, 3U);
}

TEST(RegulatorBytes, DoNotMatterToTheTimer) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "one byte", kUnsaid, 1},
      {1ms, What::kData, 0, 1000, 1460, 10, "the timer goes on"},
  };
  play_shifted(policy(Recovery::kTimer), kRows, 10ms);
}

// Five GB exceed the range of sequence numbers.
TEST(RegulatorBytes, ABurstMayBeLongerThanTheSequenceNumbers) {
  Regulator regulator(policy(Recovery::kBurstEnd));
  constexpr std::uint64_t kBytes = 5'000'000'000, kStep = 1'000'000'000;
  constexpr std::uint32_t kFirst = 0xFFFF'0000;
  regulator.on_start({worker(0), kFirst, 10, kBytes}, Time{});
  for (std::uint64_t sent = 0; sent < kBytes; sent += kStep) {
    const Time now{Duration{1ms} * (1 + sent / kStep)};
    EXPECT_EQ(regulator.threshold(now), 10) << sent;
    const auto sequence = static_cast<std::uint32_t>(kFirst + sent);
    regulator.on_payload(worker(0), sequence, static_cast<std::uint32_t>(kStep), false, now);
  }
  EXPECT_EQ(regulator.counters().recovered_burst_end, 1U);
  EXPECT_EQ(regulator.live_entries(), 0U);
}

}  // namespace
}  // namespace outrider::regulator_announced_test
