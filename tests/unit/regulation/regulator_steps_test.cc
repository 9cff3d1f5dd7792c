// Goal: what a call to the regulator costs is bounded, whatever the table holds and however much
// is due; and what is left for later calls counts as if it had been processed at once. Method:
// tables filled so that begins and ends are due at distinct, equal and clustered instants, then
// one packet far later, its steps counted; literal timelines of a regulator that is behind; and
// random timelines, against a twin that is called at every instant.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "common/core/random.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::regulator_steps_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMost = Regulator::kMostEvents;
constexpr Time kFar{1s};

/// Each event moves an entry in two heaps, and in one of its job for which a move costs five
/// levels at most. As many entries again are looked at for the threshold while it is behind.
std::uint64_t bound_of(std::uint32_t entries) {
  const auto levels = static_cast<std::uint64_t>(std::bit_width(entries)) + 1;
  return kMost * (1 + 2 * levels + 5 * levels) + kMost * levels + 10 * levels;
}

FlowKey flow_of(std::uint32_t i) {
  return {0x0A000101U + i % 4, 0x0A000301, static_cast<std::uint16_t>(i / 4), 5000};
}

std::uint64_t ended(const RegulatorCounters& c) {
  return c.recovered_arrival + c.recovered_burst_end + c.recovered_timer + c.expired +
         c.budget_exhausted + c.replaced + c.evicted;
}

/// A way to fill the table so that everything is due by kFar.
struct Filling {
  const char* name;
  Duration apart;         ///< between instants at which entries begin
  std::uint32_t at_once;  ///< entries that begin at such an instant; 0: all
  RegulationPolicy policy;
  std::uint64_t RegulatorCounters::*reason;
  Duration regulated;  ///< if all entries began at once
};

RegulationPolicy policy_of(Recovery recovery, Duration hold, Duration expiry, double share = 1) {
  return {.mode = RegulationMode::kMark,
          .recovery = recovery,
          .hold = hold,
          .expiry = expiry,
          .budget_share = share,
          .budget_window = 100ms,
          .lead = 0ms};
}

std::vector<Filling> fillings() {
  const auto timer = policy_of(Recovery::kTimer, 1us, 100ms);
  const auto expiry = policy_of(Recovery::kArrival, 1us, 1us);
  auto harmonic = timer, demand = expiry;
  harmonic.composition = Composition::kHarmonic;
  demand.composition = Composition::kDemand;
  return {{"distinct, timer", 10ns, 1, timer, &RegulatorCounters::recovered_timer, 1us},
          {"equal, timer", 10ns, 0, timer, &RegulatorCounters::recovered_timer, 1us},
          {"clustered, timer", 500ns, 40, timer, &RegulatorCounters::recovered_timer, 1us},
          {"distinct, expiry", 10ns, 1, expiry, &RegulatorCounters::expired, 1us},
          {"clustered, expiry", 500ns, 100, expiry, &RegulatorCounters::expired, 1us},
          {"distinct, harmonic", 10ns, 1, harmonic, &RegulatorCounters::recovered_timer, 1us},
          {"equal, demand", 10ns, 0, demand, &RegulatorCounters::expired, 1us},
          {"budget ends all", 10ns, 1, policy_of(Recovery::kArrival, 1us, 100ms, 0.25),
           &RegulatorCounters::budget_exhausted, 25ms + 30ns}};
}

/// Announces bursts that are due from 500 ms on, at 1 ms.
Regulator filled(const Filling& f, std::uint32_t entries, Duration& regulated) {
  RegulationPolicy policy = f.policy;
  policy.max_entries = policy.max_entries_per_sender.emplace(entries);
  Regulator r(policy);
  const std::uint32_t at_once = f.at_once == 0 ? entries : f.at_once;
  for (std::uint32_t i = 0; i < entries; ++i) {
    const Time due = Time{500ms} + f.apart * (i / at_once);
    const auto threshold = static_cast<std::uint16_t>(10 + i % 50);
    EXPECT_EQ(r.on_start({flow_of(i), 1, threshold, 1000 + i, due}, Time{1ms}), ArmVerdict::kArmed);
  }
  // Stretches of 1 us overlap, as instants are less far apart. The budget gives each of the
  // four senders the same time, and they begin at different instants.
  regulated = f.regulated;
  if (f.regulated == 1us) regulated += f.apart * ((entries - 1) / at_once);
  return r;
}

TEST(RegulatorSteps, APacketCostsABoundedNumberWhateverIsDue) {
  for (const std::uint32_t entries : {64U, 1024U, 16'384U}) {
    for (const Filling& f : fillings()) {
      SCOPED_TRACE(testing::Message() << f.name << ", " << entries << " entries");
      Duration regulated{};
      Regulator r = filled(f, entries, regulated);
      const auto cost = [&r](auto&& call) {
        const std::uint64_t before = r.steps();
        call();
        return r.steps() - before;
      };
      const auto ask = [&r] { static_cast<void>(r.threshold(kFar)); };
      const FlowKey last = flow_of(entries - 1);
      EXPECT_LE(cost(ask), bound_of(entries));
      EXPECT_LE(cost([&] { r.on_payload(last, 1, 100, false, kFar); }), bound_of(entries));
      EXPECT_LE(cost([&] {
                  static_cast<void>(r.on_start({last, 7, 10}, kFar));
                }),
                bound_of(entries));
      std::uint32_t packets = 3;
      for (; !r.counters().starts_armed || ended(r.counters()) < entries; ++packets) {
        ASSERT_LE(cost(ask), bound_of(entries));
        ASSERT_LE(packets, 2 * entries / kMost + 4) << "and the rest in a bounded number";
      }
      EXPECT_LE(cost(ask), bound_of(entries));
    }
  }
}

TEST(RegulatorSteps, WhatIsLeftForLaterPacketsCountsAtItsOwnInstant) {
  for (const std::uint32_t entries : {64U, 1024U, 16'384U}) {
    for (const Filling& f : fillings()) {
      SCOPED_TRACE(testing::Message() << f.name << ", " << entries << " entries");
      Duration regulated{};
      Regulator r = filled(f, entries, regulated);
      if (entries == 1024) {
        EXPECT_EQ(r.regulated(kFar), regulated) << "as a report tells";
      }
      Duration before{};
      for (std::uint32_t packet = 0; packet < 2 * entries / kMost + 2; ++packet) {
        EXPECT_EQ(r.threshold(kFar), std::nullopt) << "the end of each is due";
        EXPECT_EQ(r.threshold_at(kFar), std::nullopt);
        const Duration now = r.regulated(kFar);
        ASSERT_GE(now, before) << "a report never takes time back";
        before = now;
      }
      EXPECT_EQ(r.live_entries(), 0U);
      EXPECT_EQ(r.counters().*f.reason, entries);
      EXPECT_EQ(ended(r.counters()), entries);
      EXPECT_EQ(r.regulated(kFar), regulated);
    }
  }
}

// -- While it is behind

constexpr FlowKey kHonest{0x0A000201, 0x0A000302, 40'000, 5001};

/// A regulator with 1000 entries whose begins and ends are all due by 600 ms.
Regulator behind_at_600ms(Composition composition = Composition::kMin) {
  RegulationPolicy policy = policy_of(Recovery::kBurstEnd, 1us, 50ms);
  policy.composition = composition;
  policy.max_entries = policy.max_entries_per_sender.emplace(1024);
  policy.idle_end = 100ms;
  Regulator r(policy);
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(r.on_start({flow_of(i), 1, 5, {}, Time{500ms + i * 10ns}}, Time{1ms}),
              ArmVerdict::kArmed);
  return r;
}

TEST(RegulatorBehind, AnEntryThatIsNotOverStillRegulates) {
  for (const auto composition : {Composition::kMin, Composition::kHarmonic, Composition::kDemand}) {
    Regulator r = behind_at_600ms(composition);
    EXPECT_EQ(r.on_start({kHonest, 1, 30}, Time{499ms}), ArmVerdict::kArmed);
    // Its payload puts its end off, which the regulator notes only when the old end comes.
    r.on_payload(kHonest, 1, 100, false, Time{499ms});
    r.on_payload(kHonest, 101, 100, false, Time{540ms});
    std::uint32_t behind = 0;
    for (int packet = 0; packet < 100; ++packet) {
      const auto threshold = r.threshold(Time{580ms});
      behind += r.live_entries() > 1;
      ASSERT_TRUE(threshold.has_value());
      if (r.live_entries() == 1) {
        ASSERT_EQ(threshold, 30);
      }
    }
    EXPECT_GT(behind, 20U);
    EXPECT_EQ(r.live_entries(), 1U);
  }
}

TEST(RegulatorBehind, PayloadAndStartsFindWhatIsDueEnded) {
  Regulator r = behind_at_600ms();
  static_cast<void>(r.threshold(Time{600ms}));
  EXPECT_GT(r.live_entries(), 900U);
  const std::uint64_t expired = r.counters().expired;
  r.on_payload(flow_of(999), 1, 100, true, Time{600ms});
  EXPECT_EQ(r.counters().recovered_burst_end, 0U) << "it had expired";
  EXPECT_GE(r.counters().expired, expired + 1);
  EXPECT_EQ(r.on_start({flow_of(998), 1, 3}, Time{600ms}), ArmVerdict::kArmed)
      << "no copy: the entry has ended, and payload of its burst was never seen";
  EXPECT_EQ(r.counters().starts_repeated + r.counters().starts_tightened, 0U);
}

TEST(RegulatorBehind, AStartBeginsInItsTurn) {
  Regulator r = behind_at_600ms();
  EXPECT_EQ(r.on_start({kHonest, 1, 20}, Time{600ms}), ArmVerdict::kArmed);
  std::vector<FlowKey> told;
  int packets = 0;
  for (; packets < 200 && r.threshold(Time{600ms}) != 20; ++packets)
    r.tell_begun([&](const Regulator::BegunBurst& b) { told.push_back(b.flow); });
  EXPECT_GT(packets, 10);
  EXPECT_LE(packets, 2001 / static_cast<int>(kMost) + 1);
  EXPECT_EQ(std::ranges::count(told, kHonest), 0);
  r.tell_begun([&](const Regulator::BegunBurst& b) { told.push_back(b.flow); });
  EXPECT_EQ(std::ranges::count(told, kHonest), 1);
  EXPECT_EQ(r.live_entries(), 1U);
  EXPECT_EQ(r.threshold(Time{649'999'999ns}), 20) << "expiry counts from its START";
  EXPECT_EQ(r.threshold(Time{650ms}), std::nullopt);
  EXPECT_EQ(r.regulated(Time{650ms}), 50ms + 9990ns + 50ms);
}

TEST(RegulatorBehind, ControlOperationsProcessEverythingFirst) {
  Regulator r = behind_at_600ms();
  r.withdraw_all(Time{600ms});
  EXPECT_EQ(r.counters().expired, 1000U);
  EXPECT_EQ(r.counters().withdrawn, 0U);
  EXPECT_EQ(r.threshold(Time{600ms}), std::nullopt);
}

// The rhythm of a job whose next burst is due at 11 s, and 100 timers that run out just before.
TEST(RegulatorBehind, NoPredictionBegins) {
  RegulationPolicy policy = policy_of(Recovery::kTimer, 5ms, 100ms);
  policy.lead = Duration(2ms);
  policy.predict.from = PredictFrom::kTraffic;
  Regulator r(policy);
  for (int second = 1; second <= 10; ++second)
    r.on_payload(flow_of(200), 1000, 1000, false, Time{1s * second});
  for (std::uint32_t i = 0; i < 100; ++i)
    ASSERT_EQ(r.on_start({flow_of(i), 1, 5}, Time{10'990ms}), ArmVerdict::kArmed);
  const std::uint64_t before = r.counters().starts_predicted;
  constexpr Time kLate{10'999ms};
  for (std::uint32_t left = 100; left > kMost; left -= kMost) {
    static_cast<void>(r.threshold(kLate));
    EXPECT_EQ(r.live_entries(), left - kMost);
    EXPECT_EQ(r.counters().starts_predicted, before);
  }
  static_cast<void>(r.threshold(kLate));
  EXPECT_EQ(r.counters().starts_predicted, before + 1);
  EXPECT_EQ(r.live_entries(), 1U);
}

TEST(RegulatorSteps, TellsABoundedNumberOfBurstsAtATime) {
  RegulationPolicy policy = policy_of(Recovery::kTimer, 100ms, 100ms);
  Regulator r(policy);
  for (std::uint32_t i = 0; i < 100; ++i)
    ASSERT_EQ(r.on_start({flow_of(i), 1, 5}, Time{1ms}), ArmVerdict::kArmed);
  std::vector<FlowKey> told;
  for (std::size_t most = kMost; told.size() < 100; most += kMost) {
    r.tell_begun([&](const Regulator::BegunBurst& b) { told.push_back(b.flow); });
    ASSERT_EQ(told.size(), std::min<std::size_t>(most, 100));
  }
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(told[i], flow_of(i)) << "the earliest first";
}

// -- A twin that is never far behind

struct Timeline {
  RegulationPolicy policy;
  std::vector<StartSignal> starts;  ///< all heard at 1 ns
  Time over;                        ///< everything is due by then
};

Timeline random_timeline(RandomStream& random) {
  Timeline t;
  t.policy = {
      .mode = RegulationMode::kMark,
      .recovery = random.next_u32() % 2 == 0 ? Recovery::kTimer : Recovery::kArrival,
      .hold = Duration{20 + random.next_u32() % 150},
      .expiry = Duration{150 + random.next_u32() % 150},
      .budget_share = random.next_u32() % 3 == 0 ? 1.0 : 0.25,
      .budget_sender_share = random.next_u32() % 2 == 0 ? std::optional(0.35) : std::nullopt,
      .budget_queue_share = random.next_u32() % 2 == 0 ? std::optional(0.5) : std::nullopt,
      .budget_window = 400ns,
      .max_entries = 256,
      .max_entries_per_sender = 256,
      .lead = Duration{random.next_u32() % 40},
      .composition = static_cast<Composition>(random.next_u32() % 3)};
  const std::uint32_t entries = 100 + random.next_u32() % 150;
  const std::uint32_t spread = 1 + random.next_u32() % 2000;
  for (std::uint32_t i = 0; i < entries; ++i) {
    FlowKey flow = flow_of(i);
    flow.destination_port = static_cast<std::uint16_t>(5000 + random.next_u32() % 3);
    t.starts.push_back({flow, 1, static_cast<std::uint16_t>(1 + random.next_u32() % 60),
                        1 + random.next_u32() % 5000,
                        Time{Duration{100 + random.next_u32() % spread}}});
  }
  t.over = Time{Duration{100 + spread} + t.policy.expiry};
  return t;
}

TEST(RegulatorSteps, AJumpInTimeEndsAsATwinThatIsCalledAtEveryInstant) {
  std::uint64_t lagged = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, RandomPurpose::kTest);
    const Timeline t = random_timeline(random);
    Regulator often(t.policy), rarely(t.policy);
    for (const StartSignal& s : t.starts)
      ASSERT_EQ(often.on_start(s, Time{1ns}), rarely.on_start(s, Time{1ns}));
    for (Time now{2ns}; now < t.over; now += 1ns)
      for (int packet = 0; packet < 16; ++packet) static_cast<void>(often.threshold(now));
    const Time jump{100ns + Duration{random.next_u32() % 400}};
    for (int packet = 0; packet < 3; ++packet) static_cast<void>(rarely.threshold(jump));
    static_cast<void>(rarely.threshold(t.over));
    lagged += rarely.live_entries() != 0;
    for (int packet = 0; packet < 20; ++packet) static_cast<void>(rarely.threshold(t.over));
    const RegulatorCounters &a = often.counters(), &b = rarely.counters();
    EXPECT_EQ(a.recovered_timer, b.recovered_timer);
    EXPECT_EQ(a.expired, b.expired);
    EXPECT_EQ(a.budget_exhausted, b.budget_exhausted);
    EXPECT_EQ(ended(b), t.starts.size());
    EXPECT_EQ(often.regulated(t.over), rarely.regulated(t.over));
    EXPECT_EQ(rarely.live_entries(), 0U);
    refused += b.budget_exhausted;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(lagged, 100U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace outrider::regulator_steps_test
