// Goal: the right events begin and end the regulation of a queue. Method: each test is a literal
// timeline with one event per row; `expect` is the threshold in force right after it.
#include "switch/regulation/regulator/regulator.h"

#include <gtest/gtest.h>

#include <span>

namespace outrider::regulator_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kNone = 0;  // not regulated

FlowKey worker(std::uint32_t w, std::uint16_t job = 0) {
  return {0x0A000101U + w, 0x0A000301, static_cast<std::uint16_t>(40'000 + w),
          static_cast<std::uint16_t>(5000 + job)};
}

RegulationPolicy policy(Recovery recovery) {
  return {.mode = RegulationMode::kMark,
          .recovery = recovery,
          .hold = 10ms,
          .idle_end = 5ms,
          .expiry = 100ms,
          .budget_share = 1,
          .budget_window = 10s,
          .max_entries = 8};
}

enum class What { kStart, kData, kFin, kLook };
struct Row {
  Duration at;
  What what;
  std::uint32_t worker;
  std::uint32_t sequence;  // kStart: announced; kData, kFin: of the payload
  std::uint32_t arg;       // kStart: threshold; kData, kFin: payload bytes
  std::uint16_t expect;
  const char* why;
};

void play(Regulator& regulator, std::span<const Row> rows, Duration shift = {}) {
  for (const auto& row : rows) {
    const Time now{shift + row.at};
    const FlowKey flow = worker(row.worker);
    switch (row.what) {
      case What::kStart:
        regulator.on_start({flow, row.sequence, static_cast<std::uint16_t>(row.arg)}, now);
        break;
      case What::kData:
        regulator.on_payload(flow, row.sequence, row.arg, false, now);
        break;
      case What::kFin:
        regulator.on_payload(flow, row.sequence, row.arg, true, now);
        break;
      case What::kLook:
        break;
    }
    EXPECT_EQ(regulator.threshold(now).value_or(kNone), row.expect)
        << row.why << " (at " << row.at.count() << " ns, shifted by " << shift.count() << ")";
    const RegulatorCounters& c = regulator.counters();
    const std::uint64_t ended = c.recovered_arrival + c.recovered_burst_end + c.recovered_timer +
                                c.expired + c.budget_exhausted + c.replaced;
    ASSERT_EQ(c.starts_armed, ended + regulator.live_entries()) << row.why;
  }
}

// Plays a timeline, and twice more an hour and a year (of whole windows) later.
void play_shifted(const RegulationPolicy& p, std::span<const Row> rows) {
  for (const Duration shift : {Duration{0}, Duration{1h}, Duration{365 * 24h}}) {
    Regulator regulator(p);
    play(regulator, rows, shift);
  }
}

// -- recovery policies

TEST(Regulator, ArrivalEndsWithTheFirstAnnouncedByte) {
  constexpr Row kRows[] = {
      {0ms, What::kLook, 0, 0, 0, kNone, "nothing announced"},
      {1ms, What::kStart, 0, 1000, 10, 10, "in force from START on"},
      {2ms, What::kLook, 0, 0, 0, 10, "until the burst comes"},
      {3ms, What::kData, 1, 1000, 1460, 10, "another flow is not the burst"},
      {4ms, What::kData, 0, 1000, 1460, kNone, "first byte of the burst"},
      {5ms, What::kData, 0, 2460, 1460, kNone, "the rest changes nothing"},
      {6ms, What::kStart, 0, 50'000, 15, 15, "the next iteration regulates again"},
      {7ms, What::kData, 0, 50'000, 1, kNone, "one byte is enough"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
}

TEST(Regulator, BurstEndHoldsThroughTheBurst) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {20ms, What::kLook, 0, 0, 0, 10, "the burst may take longer than idle_end to come"},
      {30ms, What::kData, 0, 1000, 1460, 10, "it has begun: still regulated"},
      {34ms, What::kData, 0, 2460, 1460, 10, "a gap below idle_end"},
      {38'999us, What::kLook, 0, 0, 0, 10, "1 us short of idle_end after the last payload"},
      {39ms, What::kLook, 0, 0, 0, kNone, "idle_end has passed"},
      {50ms, What::kStart, 0, 3920, 10, 10, "next iteration"},
      {51ms, What::kData, 0, 3920, 1460, 10, "in burst"},
      {52ms, What::kFin, 0, 5380, 1460, kNone, "FIN ends it at once"},
  };
  play_shifted(policy(Recovery::kBurstEnd), kRows);
}

TEST(Regulator, TimerHoldsForItsTimeWhateverArrives) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {1ms, What::kData, 0, 1000, 1460, 10, "payload does not end it"},
      {2ms, What::kFin, 0, 2460, 1460, 10, "nor does FIN"},
      {9999us, What::kLook, 0, 0, 0, 10, "1 us short of hold"},
      {10ms, What::kLook, 0, 0, 0, kNone, "hold has passed since START"},
      {20ms, What::kStart, 0, 9000, 10, 10, "again"},
      {25ms, What::kStart, 0, 9000, 10, 10, "a copy does not prolong it"},
      {30ms, What::kLook, 0, 0, 0, kNone, "hold counts from the first copy"},
  };
  play_shifted(policy(Recovery::kTimer), kRows);
}

// -- what must not change anything

TEST(Regulator, RepeatedStartChangesNothing) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {1ms, What::kStart, 0, 1000, 10, 10, "a copy"},
      {2ms, What::kStart, 0, 1000, 50, 10, "not even one that asks for less"},
      {3ms, What::kData, 0, 1000, 1460, kNone, "one arrival ends all copies"},
      {4ms, What::kStart, 0, 1000, 10, kNone, "a copy that its own burst has overtaken"},
      {99ms, What::kStart, 0, 1000, 10, kNone, "however late"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
  Regulator regulator(policy(Recovery::kArrival));
  play(regulator, kRows);
  EXPECT_EQ(regulator.on_start({worker(0), 1000, 10}, Time{100ms}), ArmVerdict::kRepeated);
  EXPECT_EQ(regulator.counters().starts_repeated, 5U);
}

TEST(Regulator, CopyAfterTheEndIsKnownUnderEveryPolicy) {
  for (const auto recovery : {Recovery::kArrival, Recovery::kBurstEnd, Recovery::kTimer}) {
    Regulator regulator(policy(recovery));
    regulator.on_start({worker(0), 1000, 10}, Time{0ms});
    regulator.on_payload(worker(0), 1000, 1460, true, Time{1ms});
    EXPECT_EQ(regulator.threshold(Time{20ms}), std::nullopt);
    EXPECT_EQ(regulator.on_start({worker(0), 1000, 10}, Time{21ms}), ArmVerdict::kRepeated);
    EXPECT_EQ(regulator.threshold(Time{21ms}), std::nullopt);
  }
}

TEST(Regulator, CopyDoesNotPutOffTheExpiry) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {99ms, What::kStart, 0, 1000, 10, 10, "a copy just before"},
      {100ms, What::kLook, 0, 0, 0, kNone, "expired all the same"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
}

// A START that was overtaken by the next iteration's, or is replayed, is behind in its flow.
TEST(Regulator, StartOfAnEarlierBurstIsStale) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 0xFFFFFF00, 10, 10, "the second iteration"},
      {1ms, What::kStart, 0, 0xFFFF0000, 50, 10, "the first: does not replace it"},
      {2ms, What::kStart, 0, 100, 20, 20, "the third, across the wrap: replaces it"},
      {3ms, What::kStart, 0, 0xFFFFFF00, 5, 20, "the second again"},
      {4ms, What::kData, 0, 100, 1460, kNone, "the third's burst"},
      {5ms, What::kStart, 0, 0xFFFFFF00, 5, kNone, "the second, behind the last burst seen"},
      {6ms, What::kStart, 0, 99, 5, kNone, "a byte behind"},
      {7ms, What::kStart, 0, 5000, 20, 20, "the fourth"},
      {8ms, What::kData, 0, 5000, 1460, kNone, "its burst"},
      {59s, What::kStart, 0, 100, 20, kNone, "still the third"},
      {60'008ms, What::kStart, 0, 100, 20, 20, "a later connection may begin anywhere"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
  Regulator regulator(policy(Recovery::kArrival));
  play(regulator, std::span(kRows).first(4));
  EXPECT_EQ(regulator.on_start({worker(0), 1, 5}, Time{3ms}), ArmVerdict::kStale);
  EXPECT_EQ(regulator.counters().starts_stale, 3U);
  EXPECT_EQ(regulator.counters().starts_armed, 2U);
  EXPECT_EQ(regulator.counters().starts_repeated, 0U);
}

// Whichever of two STARTs for a burst is forged, the true one gets what it asks for.
TEST(Regulator, ACopyCanOnlyTightenItsEntry) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 65535, 65535, "forged: hardly regulates"},
      {1ms, What::kStart, 0, 1000, 10, 10, "the true one holds"},
      {2ms, What::kStart, 0, 1000, 65535, 10, "forged again: not loosened"},
      {3ms, What::kStart, 1, 1000, 20, 10, "another flow"},
      {4ms, What::kData, 0, 1000, 1460, 20, "one entry: it ends with its burst"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
  auto p = policy(Recovery::kArrival);
  Regulator regulator(p);
  play(regulator, kRows);
  EXPECT_EQ(regulator.counters().starts_tightened, 1U);
  EXPECT_EQ(regulator.counters().starts_repeated, 1U);
  p.max_threshold_packets = 60;
  Regulator limited(p);
  EXPECT_EQ(limited.on_start({worker(0), 1000, 65535}, Time{0ms}), ArmVerdict::kArmed);
  EXPECT_EQ(limited.threshold(Time{0ms}), 60) << "no more than the greatest h";
  EXPECT_EQ(limited.on_start({worker(0), 1000, 61}, Time{0ms}), ArmVerdict::kRepeated);
  EXPECT_EQ(limited.on_start({worker(0), 1000, 59}, Time{0ms}), ArmVerdict::kTightened);
  EXPECT_EQ(limited.threshold(Time{0ms}), 59);
}

// -- what counts as the burst

TEST(Regulator, OnlyAnnouncedPayloadEndsIt) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 10'000, 10, 10, "armed"},
      {1ms, What::kData, 0, 7080, 1460, 10, "a retransmission of earlier data"},
      {2ms, What::kData, 0, 8540, 1460, 10, "up to the announced byte, without it"},
      {3ms, What::kData, 0, 8541, 1460, kNone, "straddles it: the announced byte is inside"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
}

TEST(Regulator, SequenceNumbersWrap) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 0xFFFFFFF0, 10, 10, "announced just before the wrap"},
      {1ms, What::kData, 0, 0xFFFFFA00, 1460 + 60, 10, "ends at the announced byte"},
      {2ms, What::kData, 0, 0xFFFFFFF0, 1460, kNone, "crosses zero"},
      {3ms, What::kStart, 0, 100, 10, 10, "announced just after the wrap"},
      {4ms, What::kData, 0, 0xFFFFFF00, 356, 10, "ends exactly at it"},
      {5ms, What::kData, 0, 0xFFFFFF00, 357, kNone, "one byte more"},
      {6ms, What::kStart, 1, 0, 10, 10, "zero is a legal sequence number"},
      {7ms, What::kData, 1, 0xFFFFFFFF, 1, 10, "the byte before it"},
      {8ms, What::kData, 1, 0, 1, kNone, "the byte itself"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
}

TEST(Regulator, EarlierDataKeepsTheArmedEntryNotAlive) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 10'000, 10, 10, "armed"},
      {90ms, What::kData, 0, 7080, 1460, 10, "a retransmission of earlier data"},
      {100ms, What::kLook, 0, 0, 0, kNone, "expiry counts from START"},
  };
  play_shifted(policy(Recovery::kBurstEnd), kRows);
}

TEST(Regulator, EarlierDataDuringTheBurstIsPartOfIt) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 10'000, 10, 10, "armed"},
      {1ms, What::kData, 0, 10'000, 1460, 10, "in burst"},
      {5ms, What::kData, 0, 7080, 1460, 10, "a late copy of earlier data: the worker is alive"},
      {9ms, What::kLook, 0, 0, 0, 10, "so idle_end counts from it"},
      {10ms, What::kLook, 0, 0, 0, kNone, "and then passes"},
  };
  play_shifted(policy(Recovery::kBurstEnd), kRows);
}

// -- lost packets and dead workers

TEST(Regulator, PayloadWithoutStartIsIgnored) {
  constexpr Row kRows[] = {
      {0ms, What::kData, 0, 1000, 1460, kNone, "START was lost"},
      {1ms, What::kStart, 1, 1000, 10, 10, "another worker's START"},
      {2ms, What::kData, 0, 2460, 1460, 10, "does not end another's regulation"},
      {3ms, What::kData, 1, 1000, 1460, kNone, "its own burst does"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
}

TEST(Regulator, DeadWorkerExpires) {
  for (const auto recovery : {Recovery::kArrival, Recovery::kBurstEnd}) {
    constexpr Row kRows[] = {
        {0ms, What::kStart, 0, 1000, 10, 10, "armed, and the worker dies"},
        {99'999us, What::kLook, 0, 0, 0, 10, "1 us short of expiry"},
        {100ms, What::kLook, 0, 0, 0, kNone, "expired"},
        {200ms, What::kStart, 0, 1000, 10, 10, "never seen: the same START arms again"},
    };
    play_shifted(policy(recovery), kRows);
  }
}

TEST(Regulator, WorkerThatStopsInMidBurst) {
  auto p = policy(Recovery::kBurstEnd);
  constexpr Row kIdle[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {1ms, What::kData, 0, 1000, 1460, 10, "in burst, then nothing more"},
      {6ms, What::kLook, 0, 0, 0, kNone, "idle_end ends it, no FIN needed"},
  };
  play_shifted(p, kIdle);
  p.idle_end = 500ms;
  p.expiry = 20ms;
  constexpr Row kExpiry[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {15ms, What::kData, 0, 1000, 1460, 10, "in burst"},
      {34ms, What::kLook, 0, 0, 0, 10, "expiry counts from the latest payload"},
      {35ms, What::kLook, 0, 0, 0, kNone, "an expiry below idle_end comes first"},
  };
  play_shifted(p, kExpiry);
  p.recovery = Recovery::kTimer;  // hold is 10 ms
  p.expiry = 8ms;
  constexpr Row kBeforeTimer[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "armed"},
      {8ms, What::kLook, 0, 0, 0, kNone, "as does one below hold"},
  };
  play_shifted(p, kBeforeTimer);
}

TEST(Regulator, NewerIterationReplacesALostOne) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "first iteration, its burst never comes"},
      {50ms, What::kStart, 0, 9000, 20, 20, "second replaces it: one entry a flow"},
      {60ms, What::kData, 0, 1000, 1460, 20, "data of the first iteration is earlier data now"},
      {70ms, What::kData, 0, 9000, 1460, kNone, "the second's burst"},
  };
  play_shifted(policy(Recovery::kArrival), kRows);
  Regulator regulator(policy(Recovery::kArrival));
  play(regulator, kRows);
  EXPECT_EQ(regulator.counters().replaced, 1U);
  EXPECT_EQ(regulator.counters().recovered_arrival, 1U);
}

// -- several bursts at once

TEST(Regulator, StrictestOfTheLiveEntriesCountsInEveryOrderOfLeaving) {
  constexpr Row kStrictestFirst[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "first job"},
      {1ms, What::kStart, 1, 1000, 30, 10, "a laxer one does not raise it"},
      {2ms, What::kStart, 2, 1000, 20, 10, "nor a middle one"},
      {3ms, What::kData, 0, 1000, 1, 20, "the strictest leaves: it rises to the next"},
      {4ms, What::kData, 2, 1000, 1, 30, "and again"},
      {5ms, What::kData, 1, 1000, 1, kNone, "the last one"},
  };
  constexpr Row kStrictestLast[] = {
      {0ms, What::kStart, 1, 1000, 30, 30, "a lax job"},
      {1ms, What::kStart, 2, 1000, 20, 20, "a stricter one lowers it"},
      {2ms, What::kStart, 0, 1000, 10, 10, "and the strictest"},
      {3ms, What::kData, 1, 1000, 1, 10, "the laxest leaves"},
      {4ms, What::kData, 2, 1000, 1, 10, "the middle one"},
      {5ms, What::kData, 0, 1000, 1, kNone, "the last one"},
  };
  constexpr Row kByExpiry[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "the strictest, which dies"},
      {50ms, What::kStart, 1, 1000, 30, 10, "a laxer one"},
      {99ms, What::kLook, 0, 0, 0, 10, "not yet"},
      {100ms, What::kLook, 0, 0, 0, 30, "rises although no packet came"},
      {150ms, What::kLook, 0, 0, 0, kNone, "and then ends"},
  };
  play_shifted(policy(Recovery::kArrival), kStrictestFirst);
  play_shifted(policy(Recovery::kArrival), kStrictestLast);
  play_shifted(policy(Recovery::kArrival), kByExpiry);
}

TEST(Regulator, FullTableRefusesAndRecovers) {
  auto p = policy(Recovery::kArrival);
  p.max_entries = 2;
  Regulator regulator(p);
  EXPECT_EQ(regulator.on_start({worker(0), 1, 20}, Time{0ms}), ArmVerdict::kArmed);
  EXPECT_EQ(regulator.on_start({worker(1), 1, 20}, Time{0ms}), ArmVerdict::kArmed);
  EXPECT_EQ(regulator.on_start({worker(2), 1, 5}, Time{1ms}), ArmVerdict::kRefusedTable);
  EXPECT_EQ(regulator.threshold(Time{1ms}), 20) << "a refused START regulates nothing";
  EXPECT_EQ(regulator.on_start({worker(0), 9, 10}, Time{2ms}), ArmVerdict::kArmed)
      << "a newer iteration takes its own place";
  regulator.on_payload(worker(1), 1, 100, false, Time{3ms});
  EXPECT_EQ(regulator.on_start({worker(2), 1, 5}, Time{4ms}), ArmVerdict::kArmed);
  EXPECT_EQ(regulator.threshold(Time{4ms}), 5);
  EXPECT_EQ(regulator.counters().starts_refused_table, 1U);
}

TEST(Regulator, MemoryOfSeenBurstsIsBoundedAndForgetsTheOldest) {
  auto p = policy(Recovery::kArrival);
  p.max_entries = 2;
  Regulator regulator(p);
  for (std::uint32_t w = 0; w < 3; ++w) {
    EXPECT_EQ(regulator.on_start({worker(w), 1, 20}, Time{w * 1ms}), ArmVerdict::kArmed);
    regulator.on_payload(worker(w), 1, 100, false, Time{w * 1ms});
  }
  EXPECT_EQ(regulator.on_start({worker(1), 1, 20}, Time{4ms}), ArmVerdict::kRepeated);
  EXPECT_EQ(regulator.on_start({worker(2), 1, 20}, Time{4ms}), ArmVerdict::kRepeated);
  EXPECT_EQ(regulator.on_start({worker(0), 1, 20}, Time{4ms}), ArmVerdict::kArmed)
      << "the oldest was forgotten; its expiry still bounds the harm";
}

// -- budget

RegulationPolicy with_budget() {
  auto p = policy(Recovery::kTimer);
  p.hold = 60ms;
  p.expiry = 1s;
  p.budget_share = 0.5;
  p.budget_queue_share = 0.75;
  p.budget_window = 100ms;
  return p;
}

// Worker 0 uses up its own share, and both together that of the queue.
TEST(Regulator, BudgetEndsAnEntryAndRefusesTheNext) {
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1000, 10, 10, "50 ms of the window are left"},
      {49'999us, What::kData, 0, 1000, 1, 10, "1 us short, payload or not"},
      {50ms, What::kLook, 0, 0, 0, kNone, "used up in mid-burst"},
      {60ms, What::kStart, 0, 2000, 10, kNone, "refused"},
      {70ms, What::kStart, 1, 2000, 10, 10, "another worker of the job has its own share"},
      {94'999us, What::kLook, 0, 0, 0, 10, "1 us short of the queue's 75 ms"},
      {95ms, What::kLook, 0, 0, 0, kNone, "which end it"},
      {96ms, What::kStart, 2, 2000, 10, kNone, "and nobody is left any"},
      {100ms, What::kStart, 0, 2000, 10, 10, "a new window"},
      {130ms, What::kStart, 1, 3000, 15, 10, "a second worker"},
      {150ms, What::kLook, 0, 0, 0, 15, "goes on after the first"},
      {175ms, What::kLook, 0, 0, 0, kNone, "until the queue's share is used up"},
  };
  play_shifted(with_budget(), kRows);
  Regulator regulator(with_budget());
  play(regulator, kRows);
  EXPECT_EQ(regulator.counters().budget_exhausted, 4U);
  EXPECT_EQ(regulator.counters().starts_refused_budget, 2U);
}

// Two entries end at different instants, and one late call notices both. They held the queue
// until the later end.
TEST(Regulator, BudgetCountsToTheLastEndEvenIfNoticedLate) {
  auto p = with_budget();
  p.hold = 20ms;
  p.budget_queue_share = 0.5;
  constexpr Row kRows[] = {
      {0ms, What::kStart, 0, 1, 10, 10, "until 20 ms"},
      {15ms, What::kStart, 1, 1, 10, 10, "until 35 ms"},
      {40ms, What::kLook, 0, 0, 0, kNone, "both have ended: 35 of 50 ms are used"},
      {60ms, What::kStart, 0, 2, 10, 10, "15 ms are left, less than hold"},
      {74'999us, What::kLook, 0, 0, 0, 10, "1 us short"},
      {75ms, What::kLook, 0, 0, 0, kNone, "the allowance is used up"},
  };
  play_shifted(p, kRows);
}

// -- reporting

TEST(Regulator, RegulatedTimeIsTheUnionOfTheEntries) {
  Regulator regulator(policy(Recovery::kArrival), 8);
  EXPECT_EQ(regulator.regulated(Time{5ms}), 0ns);
  regulator.on_start({worker(0), 1, 10}, Time{10ms});
  EXPECT_EQ(regulator.regulated(Time{14ms}), 4ms) << "still live";
  regulator.on_start({worker(1), 1, 10}, Time{15ms});
  regulator.on_payload(worker(0), 1, 1, false, Time{20ms});
  EXPECT_EQ(regulator.regulated(Time{25ms}), 15ms) << "overlaps count once";
  regulator.on_payload(worker(1), 1, 1, false, Time{30ms});
  EXPECT_EQ(regulator.regulated(Time{90ms}), 20ms) << "ended";
  regulator.on_start({worker(2), 1, 10}, Time{100ms});  // dies; expires at 200 ms
  EXPECT_EQ(regulator.regulated(Time{190ms}), 110ms);
  const TimeSpan first{10'000'000, 30'000'000};
  EXPECT_EQ(regulator.stretches(Time{190ms}),
            (std::vector{first, TimeSpan{100'000'000, 190'000'000}}));
  EXPECT_EQ(regulator.stretches(Time{500ms}),
            (std::vector{first, TimeSpan{100'000'000, 200'000'000}}));
  EXPECT_EQ(regulator.regulated(Time{500ms}), 120ms) << "a report after the fact: ended in time";
  EXPECT_EQ(regulator.threshold(Time{500ms}), std::nullopt);
  EXPECT_EQ(regulator.regulated(Time{500ms}), 120ms) << "also once noticed";
}

}  // namespace
}  // namespace outrider::regulator_test
