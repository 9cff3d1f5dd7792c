// Goal: bursts are granted in the order that was promised and never beyond the budget; whatever is
// lost, repeated or wrong, every answer passes within a stated time and everything ends. Method:
// single cases, and random calls beside a model that only knows the rules.
#include "switch/regulation/grants/burst_admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "common/core/random.h"

namespace outrider::burst_admission_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirst = 1000;  // sequence number of a burst's first byte

BurstAdmission::Setup setup(GrantOrder order = GrantOrder::kFirst) {
  return {.policy = {.order = order, .overlap = 0ns},
          .budget_bytes = 10'000,
          .idle = 5ms,
          .expiry = 20ms,
          .max_entries = 16,
          .max_per_sender = 16,
          .bytes_per_ns = 0.125,  // 1 Gbit/s
          .frame_bytes = 1514};
}

FlowKey flow(std::uint32_t worker, std::uint32_t job = 0) {
  return {0x0A00'0101 + worker, 0x0A00'0301, static_cast<std::uint16_t>(40'000 + worker),
          static_cast<std::uint16_t>(5000 + job)};
}

StartSignal start(const FlowKey& f, std::uint64_t bytes, std::uint32_t sequence = kFirst) {
  StartSignal s{.flow = f, .sequence = sequence, .threshold_packets = 10};
  if (bytes != 0) s.bytes = bytes;
  return s;
}

/// An admission whose answers all come at once.
struct Scene {
  explicit Scene(const BurstAdmission::Setup& s) : admission(s) {}

  BurstAdmission::AckVerdict announce(const StartSignal& s) {
    admission.on_start(s, now);
    return answer(s);
  }
  BurstAdmission::AckVerdict answer(const StartSignal& s) {
    const auto got = admission.on_ack(s.flow, s.sequence, 0, now);
    if (got.verdict == BurstAdmission::AckVerdict::kWait) held[got.slot] = s.flow;
    return got.verdict;
  }
  void send(const FlowKey& f, std::uint32_t from, std::uint32_t bytes, bool fin = false) {
    admission.on_payload(f, kFirst + from, bytes, fin, now);
  }
  /// Returns the flows whose answers pass now, in order.
  std::vector<FlowKey> passed() {
    std::vector<FlowKey> flows;
    while (const auto release = admission.take(0, now)) {
      EXPECT_TRUE(held.contains(release->slot));
      flows.push_back(held[release->slot]);
      held.erase(release->slot);
    }
    return flows;
  }
  std::vector<FlowKey> wait(Duration d) {
    now += d;
    return passed();
  }

  BurstAdmission admission;
  Time now{};
  std::map<std::uint32_t, FlowKey> held;
};

using AckVerdict = BurstAdmission::AckVerdict;
using Flows = std::vector<FlowKey>;

TEST(BurstAdmission, GrantsUpToTheBudget) {
  Scene s(setup());
  EXPECT_EQ(s.announce(start(flow(0), 6000)), AckVerdict::kGranted);
  EXPECT_EQ(s.announce(start(flow(1), 4000)), AckVerdict::kGranted);
  EXPECT_EQ(s.announce(start(flow(2), 3000)), AckVerdict::kWait);
  EXPECT_EQ(s.admission.in_flight(), 10'000U);
  s.send(flow(0), 0, 2000);
  EXPECT_EQ(s.passed(), Flows{}) << "8,000 are still to come";
  s.send(flow(1), 0, 1000);
  EXPECT_EQ(s.passed(), Flows{flow(2)});
  EXPECT_EQ(s.admission.in_flight(), 10'000U);
}

TEST(BurstAdmission, WhatWaitsInTheQueueTakesRoomToo) {
  Scene s(setup());
  s.announce(start(flow(0), 10'000));
  s.announce(start(flow(1), 4000));
  s.send(flow(0), 0, 10'000);
  EXPECT_EQ(s.admission.in_flight(), 0U);
  EXPECT_FALSE(s.admission.take(6001, s.now));
  const Time next = s.admission.next_event(6001, s.now);
  EXPECT_EQ(next - s.now, 1ns + Duration(1514 * 8)) << "the queue drains by whole frames";
  EXPECT_TRUE(s.admission.take(6000, s.now));
}

TEST(BurstAdmission, ABurstBeyondTheBudgetGoesAlone) {
  Scene s(setup());
  EXPECT_EQ(s.announce(start(flow(0), 50'000)), AckVerdict::kGranted);
  EXPECT_EQ(s.announce(start(flow(1), 50'000)), AckVerdict::kWait);
  s.send(flow(0), 0, 49'999);
  EXPECT_EQ(s.passed(), Flows{});
  s.send(flow(0), 49'999, 1);
  EXPECT_EQ(s.passed(), Flows{flow(1)});
}

TEST(BurstAdmission, OverlapKeepsTheLinkBusy) {
  auto with = setup();
  with.policy.overlap = 8us;  // 1,000 bytes
  Scene s(with);
  s.announce(start(flow(0), 50'000));
  s.announce(start(flow(1), 50'000));
  s.announce(start(flow(2), 50'000));
  s.send(flow(0), 0, 48'999);
  EXPECT_EQ(s.passed(), Flows{});
  s.send(flow(0), 48'999, 1);
  EXPECT_EQ(s.passed(), Flows{flow(1)}) << "1,000 bytes are to come";
  EXPECT_EQ(s.admission.in_flight(), 51'000U);
}

// A first burst takes all the room while the others gather.
Flows order_of(GrantOrder order, GrantParts parts, const std::vector<StartSignal>& starts) {
  auto with = setup(order);
  with.policy.parts = parts;
  Scene s(with);
  const FlowKey blocker = flow(99, 99);
  s.announce(start(blocker, 10'000));
  for (const auto& each : starts) EXPECT_EQ(s.announce(each), AckVerdict::kWait);
  s.send(blocker, 0, 10'000);
  Flows granted;
  for (Flows next = s.passed(); !next.empty(); next = s.passed()) {
    EXPECT_EQ(next.size(), 1U) << "each takes all the room";
    granted.push_back(next.front());
    s.send(next.front(), 0, 20'000);
  }
  return granted;
}

TEST(BurstAdmission, OrderOfStarts) {
  EXPECT_EQ(order_of(GrantOrder::kFirst, GrantParts::kAlone,
                     {start(flow(2), 13'000), start(flow(0), 11'000), start(flow(1), 12'000)}),
            (Flows{flow(2), flow(0), flow(1)}));
}

TEST(BurstAdmission, ShortestFirst) {
  EXPECT_EQ(order_of(GrantOrder::kShortest, GrantParts::kAlone,
                     {start(flow(0), 13'000), start(flow(1), 11'000), start(flow(2), 12'000),
                      start(flow(3), 11'000)}),
            (Flows{flow(1), flow(3), flow(2), flow(0)}));
}

TEST(BurstAdmission, AJobsBurstsFollowEachOther) {
  const std::vector<StartSignal> starts = {start(flow(0, 1), 12'000), start(flow(1, 2), 15'000),
                                           start(flow(2, 1), 12'000)};
  EXPECT_EQ(order_of(GrantOrder::kFirst, GrantParts::kTogether, starts),
            (Flows{flow(0, 1), flow(2, 1), flow(1, 2)}));
  EXPECT_EQ(order_of(GrantOrder::kFirst, GrantParts::kAlone, starts),
            (Flows{flow(0, 1), flow(1, 2), flow(2, 1)}));
  EXPECT_EQ(order_of(GrantOrder::kShortest, GrantParts::kTogether, starts),
            (Flows{flow(1, 2), flow(0, 1), flow(2, 1)}))
      << "the jobs have 24,000 and 15,000 bytes";
}

TEST(BurstAdmission, JobsShareAlike) {
  // Job 1 has three bursts, job 2 has bursts of twice the size.
  const Flows order =
      order_of(GrantOrder::kShare, GrantParts::kAlone,
               {start(flow(0, 1), 10'000), start(flow(1, 1), 10'000), start(flow(2, 1), 10'000),
                start(flow(3, 2), 20'000), start(flow(4, 2), 20'000)});
  EXPECT_EQ(order, (Flows{flow(0, 1), flow(3, 2), flow(1, 1), flow(2, 1), flow(4, 2)}));
}

TEST(BurstAdmission, CopiesChangeNothing) {
  Scene s(setup());
  const StartSignal first = start(flow(0), 10'000), second = start(flow(1), 10'000);
  EXPECT_EQ(s.announce(first), AckVerdict::kGranted);
  EXPECT_EQ(s.announce(first), AckVerdict::kPass) << "of a burst that was granted";
  EXPECT_EQ(s.announce(second), AckVerdict::kWait);
  EXPECT_EQ(s.announce(second), AckVerdict::kDrop);
  s.send(flow(0), 0, 10'000);
  EXPECT_EQ(s.passed(), Flows{flow(1)});
  EXPECT_EQ(s.announce(first), AckVerdict::kPass) << "it is over";
  EXPECT_EQ(s.admission.bursts(), 1U);
  EXPECT_EQ(s.admission.counters().repeated, 3U);
  EXPECT_EQ(s.admission.counters().acks_repeated, 1U);
}

TEST(BurstAdmission, ANewerBurstReplacesOne) {
  Scene s(setup());
  s.announce(start(flow(0), 10'000));
  const StartSignal older = start(flow(1), 5000);
  EXPECT_EQ(s.announce(older), AckVerdict::kWait);
  const auto heard = s.admission.on_start(start(flow(1), 5000, kFirst + 5000), s.now);
  ASSERT_TRUE(heard.replaced);
  EXPECT_EQ(s.held.at(*heard.replaced), flow(1));
  EXPECT_EQ(s.answer(older), AckVerdict::kPass) << "nobody waits for it";
  EXPECT_EQ(s.admission.on_start(older, s.now).verdict, BurstAdmission::StartVerdict::kStale);
}

TEST(BurstAdmission, ADeadWorkerHoldsUpOthersForIdle) {
  Scene s(setup());
  s.announce(start(flow(0), 10'000));
  s.announce(start(flow(1), 10'000));
  EXPECT_EQ(s.wait(5ms - 1ns), Flows{});
  EXPECT_EQ(s.admission.next_event(0, s.now), Time{5ms});
  EXPECT_EQ(s.wait(1ns), Flows{flow(1)});
  EXPECT_EQ(s.admission.in_flight(), 10'000U) << "the silent one takes no room";
  s.send(flow(0), 0, 1000);
  EXPECT_EQ(s.admission.counters().revived, 1U);
  EXPECT_EQ(s.admission.in_flight(), 19'000U) << "until it goes on";
}

TEST(BurstAdmission, NobodyWaitsForAnAnswerThatDoesNotCome) {
  Scene s(setup());
  s.admission.on_start(start(flow(0), 10'000), s.now);
  EXPECT_EQ(s.announce(start(flow(1), 10'000)), AckVerdict::kGranted);
  s.wait(1s);
  EXPECT_EQ(s.admission.counters().no_answer, 1U);
  EXPECT_EQ(s.admission.bursts(), 0U);
}

TEST(BurstAdmission, AnAnswerWaitsNoLongerThanItsPatience) {
  auto with = setup();
  with.policy.max_wait = 7ms;
  Scene s(with);
  s.announce(start(flow(0), 100'000));
  s.announce(start(flow(1), 10'000));
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(s.wait(1ms), Flows{});
    s.send(flow(0), 1000 * i, 1000);
  }
  EXPECT_EQ(s.wait(1ms), Flows{flow(1)});
  EXPECT_EQ(s.admission.counters().waited_out, 1U);
}

TEST(BurstAdmission, AGrantedBurstHasFourTimesWhatTheLinkTakes) {
  Scene s(setup());
  s.announce(start(flow(0), 1'000'000));  // 8 ms of the link
  s.announce(start(flow(1), 500'000));    // 4 ms
  Duration waited{};
  while (s.wait(100us).empty()) {
    waited += 100us;
    s.send(flow(0), 0, 1000 + static_cast<std::uint32_t>(waited / 1us));
    ASSERT_LT(waited, 1s);
  }
  EXPECT_EQ(waited + 100us, 20ms + 4 * 8ms) << "and expiry; then the next one has its turn";
  EXPECT_EQ(s.admission.counters().overstayed, 1U);
  EXPECT_EQ(s.admission.counters().granted, 1U);
}

TEST(BurstAdmission, ABurstThatComesUnaskedTakesRoom) {
  Scene s(setup());
  s.admission.on_start(start(flow(0), 10'000), s.now);
  s.send(flow(0), 0, 1000);
  EXPECT_EQ(s.admission.in_flight(), 9000U);
  EXPECT_EQ(s.announce(start(flow(1), 5000)), AckVerdict::kWait);
  s.send(flow(1), 0, 1000);
  EXPECT_EQ(s.passed(), Flows{flow(1)}) << "its worker has given up waiting";
  EXPECT_EQ(s.admission.in_flight(), 13'000U);
  EXPECT_EQ(s.admission.counters().went_ahead, 1U);
  EXPECT_EQ(s.admission.counters().came_unasked, 1U);
}

TEST(BurstAdmission, IsNotGrantedBeforeItIsDue) {
  Scene s(setup());
  StartSignal far = start(flow(0), 10'000);
  far.due = Time{3ms};
  EXPECT_EQ(s.announce(far), AckVerdict::kWait);
  EXPECT_EQ(s.announce(start(flow(1), 10'000)), AckVerdict::kGranted) << "the room is free";
  s.send(flow(1), 0, 10'000);
  EXPECT_EQ(s.passed(), Flows{});
  EXPECT_EQ(s.admission.next_event(0, s.now), Time{3ms});
  EXPECT_EQ(s.wait(3ms), Flows{flow(0)});
}

TEST(BurstAdmission, UnknownSizes) {
  Scene s(setup(GrantOrder::kShortest));
  EXPECT_EQ(s.announce(start(flow(0), 0)), AckVerdict::kGranted);
  EXPECT_EQ(s.admission.in_flight(), 10'000U) << "the budget";
  EXPECT_EQ(s.announce(start(flow(1), 100)), AckVerdict::kWait);
  s.send(flow(0), 0, 3000, true);
  EXPECT_EQ(s.admission.in_flight(), 0U) << "FIN ends it";
  EXPECT_EQ(s.passed(), Flows{flow(1)});
  s.send(flow(1), 0, 100);
  EXPECT_EQ(s.announce(start(flow(0), 0, kFirst + 3000)), AckVerdict::kGranted);
  EXPECT_EQ(s.admission.in_flight(), 3000U) << "as far as the two STARTs are apart";
}

TEST(BurstAdmission, AFullTableLetsPass) {
  auto with = setup();
  with.max_entries = 4;
  with.max_per_sender = 2;
  Scene s(with);
  for (std::uint32_t i = 0; i < 4; ++i) s.announce(start(flow(i), 10'000));
  EXPECT_EQ(s.admission.on_start(start(flow(4), 10), s.now).verdict,
            BurstAdmission::StartVerdict::kRefused);
  EXPECT_EQ(s.answer(start(flow(4), 10)), AckVerdict::kPass);
  EXPECT_EQ(s.admission.counters().refused_table, 1U);

  Scene one(with);
  FlowKey own = flow(0);
  for (std::uint16_t port = 1; port <= 3; ++port) {
    own.source_port = port;
    one.admission.on_start(start(own, 10), one.now);
  }
  EXPECT_EQ(one.admission.counters().refused_sender, 1U);
  for (std::uint32_t i = 1; i < 4; ++i) {
    EXPECT_NE(one.announce(start(flow(i), 10)), AckVerdict::kPass)
        << "what has no answer makes room";
  }
  EXPECT_EQ(one.admission.counters().evicted, 1U);
}

TEST(BurstAdmission, LiesAboutSizesEnd) {
  Scene s(setup());
  s.announce(start(flow(0), std::uint64_t{1} << 62));
  s.announce(start(flow(1), 5000));
  s.send(flow(0), 0, 500, true);
  EXPECT_EQ(s.passed(), Flows{flow(1)});
  s.send(flow(1), 0, 5000);
  s.send(flow(1), 5000, 5000);
  EXPECT_EQ(s.admission.in_flight(), 0U) << "nobody counts what was not announced";
  EXPECT_EQ(s.admission.bursts(), 0U);
}

// -- random calls

struct Burst {
  StartSignal start{};
  std::uint64_t sent = 0;
  Time asked{};
  std::uint64_t number = 0;  ///< of its START
  bool waits = false;        ///< its answer is held
};

/// Returns whether `a` goes before `b` where bursts are ranked alone.
bool goes_before(GrantOrder order, const Burst& a, const Burst& b) {
  if (order == GrantOrder::kShortest && a.start.bytes != b.start.bytes)
    return a.start.bytes < b.start.bytes;
  return a.number < b.number;
}

/// Expects that no burst waits, could be granted, and goes before that of `f`.
void expect_its_turn(const BurstAdmission::Setup& with, const std::map<FlowKey, Burst>& bursts,
                     const FlowKey& f, Time now) {
  if (with.policy.parts != GrantParts::kAlone || with.policy.order == GrantOrder::kShare) return;
  const Burst& granted = bursts.at(f);
  for (const auto& [flow, b] : bursts) {
    const bool could_go = b.waits && b.sent == 0 && b.start.due.value_or(now) <= now;
    EXPECT_FALSE(flow != f && could_go && goes_before(with.policy.order, b, granted))
        << *granted.start.bytes << " bytes before " << *b.start.bytes;
  }
}

void expect_identities(const BurstAdmission& a) {
  const GrantCounters& n = a.counters();
  EXPECT_EQ(n.entered,
            n.complete + n.overstayed + n.no_answer + n.evicted + n.replaced + a.bursts());
  EXPECT_EQ(n.acks_held, n.granted + n.waited_out + n.went_ahead + n.acks_replaced + a.waiting());
}

/// Plays `steps` random calls for the bursts of `workers` in three jobs, then lets time alone work.
/// @param in_turn  counts the answers that passed in their order
void play(const BurstAdmission::Setup& with, std::uint64_t seed, std::uint32_t workers, int steps,
          std::uint64_t& in_turn) {
  SCOPED_TRACE(seed);
  RandomStream random(seed, 0, RandomPurpose{});
  const auto below = [&](std::uint32_t n) { return random.next_u32() % n; };
  Scene s(with);
  std::map<FlowKey, Burst> bursts;
  std::uint64_t granted_unasked = 0, number = 0;
  const Duration longest = with.expiry + 2s;  // of what is announced below
  const auto pass = [&] {
    while (true) {
      const std::uint64_t before = s.admission.in_flight();
      const std::uint64_t in_debt = s.admission.counters().in_debt;
      const auto release = s.admission.take(0, s.now);
      if (!release) break;
      ASSERT_TRUE(s.held.contains(release->slot));
      const FlowKey f = s.held.at(release->slot);
      s.held.erase(release->slot);
      Burst& b = bursts.at(f);
      b.waits = false;
      EXPECT_LE(s.now - b.asked, longest) << "nobody waits without an end";
      if (!release->granted) {
        ++granted_unasked;
        continue;
      }
      ++in_turn;
      expect_its_turn(with, bursts, f, s.now);
      const std::uint64_t bytes = *b.start.bytes;
      const std::uint64_t after = s.admission.in_flight();
      const std::uint64_t freed = before + bytes - after;  // by what lapsed in the same call
      EXPECT_TRUE(after <= with.budget_bytes || before - freed == 0 ||
                  s.admission.counters().in_debt > in_debt)
          << "beyond the budget";
    }
  };
  for (int i = 0; i < steps; ++i) {
    s.now += Duration(below(200'000));
    const FlowKey f = flow(below(workers), below(3));
    const auto known = bursts.find(f);
    switch (below(5)) {
      case 0:
      case 1: {  // a new burst, or a copy of a START
        if (known != bursts.end() && known->second.waits && below(4) != 0) break;
        if (known == bursts.end() || below(3) != 0) {
          const std::uint32_t at =
              known == bursts.end() ? kFirst : known->second.start.sequence + 5000;
          bursts[f] = {start(f, 1 + below(15'000), at), 0, s.now};
          if (below(4) == 0) bursts[f].start.due = s.now + Duration(below(2'000'000));
        }
        Burst& b = bursts[f];
        const auto heard = s.admission.on_start(b.start, s.now);
        if (heard.verdict == BurstAdmission::StartVerdict::kEntered) b.number = ++number;
        if (heard.replaced) s.held.erase(*heard.replaced);
        if (below(4) != 0) b.waits |= s.answer(b.start) == AckVerdict::kWait;
        break;
      }
      case 2:  // its answer comes, perhaps again
        if (known == bursts.end()) break;
        known->second.waits |= s.answer(known->second.start) == AckVerdict::kWait;
        break;
      default:  // payload, granted or not
        if (known == bursts.end() || (known->second.waits && below(16) != 0)) break;
        Burst& b = known->second;
        const std::uint32_t n = 1 + below(3000);
        s.admission.on_payload(f, b.start.sequence + static_cast<std::uint32_t>(b.sent), n,
                               below(20) == 0, s.now);
        b.sent += n;
    }
    pass();
    expect_identities(s.admission);
    EXPECT_EQ(s.admission.waiting(), s.held.size());
    if (testing::Test::HasFatalFailure()) return;
  }
  // Nobody sends any more.
  for (int i = 0; i < 10'000 && s.admission.bursts() > 0; ++i) {
    const Time next = s.admission.next_event(0, s.now);
    ASSERT_NE(next, kNever);
    ASSERT_GE(next, s.now);
    s.now = next;
    pass();
  }
  EXPECT_EQ(s.admission.bursts(), 0U);
  EXPECT_EQ(s.admission.in_flight(), 0U) << "what was granted has come or was given up";
  EXPECT_TRUE(s.held.empty());
  expect_identities(s.admission);
}

TEST(BurstAdmission, RandomCallsKeepThePromises) {
  for (const GrantOrder order : {GrantOrder::kFirst, GrantOrder::kShortest, GrantOrder::kShare})
    for (const GrantParts parts : {GrantParts::kAlone, GrantParts::kTogether}) {
      std::uint64_t in_turn = 0;
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        auto with = setup(order);
        with.policy.parts = parts;
        with.max_entries = seed % 2 == 0 ? 16 : 64;
        with.max_per_sender = 4;
        play(with, seed, seed % 4 < 2 ? 24 : 5, 2000, in_turn);
      }
      EXPECT_GT(in_turn, 300U) << "there was an order to keep";
    }
}

// Goyal, Vin and Cheng's theorem 1, with bursts for packets: between two jobs that wait all the
// while, the bytes granted differ by no more than a burst of each.
TEST(BurstAdmission, JobsThatAlwaysWaitGetTheSameBytes) {
  constexpr std::uint32_t kJobs = 3, kWorkers = 3, kLargest = 9000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, RandomPurpose{});
    Scene s(setup(GrantOrder::kShare));
    const auto bytes_of = [&](std::uint32_t job) {  // the first job has the largest bursts
      return 1 + random.next_u32() % (kLargest >> (2 * job));
    };
    std::map<FlowKey, StartSignal> waits;
    const auto ask = [&](std::uint32_t worker, std::uint32_t job, std::uint32_t sequence) {
      const StartSignal each = start(flow(worker, job), bytes_of(job), sequence);
      waits[each.flow] = each;
      EXPECT_EQ(s.announce(each), AckVerdict::kWait);
    };
    s.announce(start(flow(99, 99), 10'000));
    for (std::uint32_t job = 0; job < kJobs; ++job)
      for (std::uint32_t worker = 0; worker < kWorkers; ++worker) ask(worker, job, kFirst);
    s.send(flow(99, 99), 0, 10'000);
    std::array<std::uint64_t, kJobs> granted{};
    for (int grants = 0; grants < 600; ++grants) {
      const auto release = s.admission.take(0, s.now);
      ASSERT_TRUE(release);
      const StartSignal burst = waits.at(s.held.at(release->slot));
      s.held.erase(release->slot);
      const std::uint32_t job = burst.flow.destination_port - 5000U;
      granted[job] += *burst.bytes;
      const auto [least, most] = std::ranges::minmax(granted);
      EXPECT_LE(most - least, 2 * kLargest);
      const auto bytes = static_cast<std::uint32_t>(*burst.bytes);
      s.admission.on_payload(burst.flow, burst.sequence, bytes, false, s.now);
      ask(burst.flow.source_port - 40'000U, job, burst.sequence + bytes);
    }
  }
}

// Small bursts come for ever, so that a large one is never the shortest.
TEST(BurstAdmission, WhoIsNeverTheShortestGoesAfterItsPatience) {
  auto with = setup(GrantOrder::kShortest);
  with.policy.max_wait = 20ms;
  Scene s(with);
  s.announce(start(flow(0), 10'000));
  EXPECT_EQ(s.announce(start(flow(1), 9500)), AckVerdict::kWait);
  s.send(flow(0), 0, 9000);
  bool passed = false;
  std::uint32_t at = kFirst;
  std::uint32_t small = 2;
  while (!passed && s.now < Time{100ms}) {  // one of 1,000 bytes ends, and another begins
    s.announce(start(flow(small), 1000, at));
    for (const FlowKey& f : s.passed()) passed |= f == flow(1);
    s.now += 100us;
    s.admission.on_payload(flow(small), at, 1000, false, s.now);
    if (++small == 12) small = 2, at += 1000;
  }
  EXPECT_TRUE(passed);
  EXPECT_LE(s.now, Time{20'200us});
  EXPECT_EQ(s.admission.counters().waited_out, 1U);
}

}  // namespace
}  // namespace outrider::burst_admission_test
