// Goal: each answer leaves with the right window, for the right reason. Method: literal timelines
// of one and two flows on a path of 200 Mbit/s and 3 ms (1 ms from the switch to the sender and
// back, 2 ms to the receiver and back).
#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_clamp_test {
namespace {

TEST(WindowClamp, MeasuresTheRoundTripInHalves) {
  Scene s(kComplement);
  s.open(0);
  const WindowFlow* f = s.clamp.flow(flow(0));
  ASSERT_NE(f, nullptr);
  EXPECT_TRUE(f->known());
  EXPECT_EQ(f->up, 1ms);
  EXPECT_EQ(f->base_rtt(), 3ms);
  s.queue.waiting_bytes = 25'000;  // leaves 1 ms from now
  s.send(0);
  s.now += 2500us;
  s.answer(0, 1);
  EXPECT_EQ(f->base_rtt(), 2500us) << "1 ms up, and 1.5 ms without the queue";
  s.queue.waiting_bytes = 0;
  s.send(0);
  s.now += 40ms;
  s.answer(0, 1);
  EXPECT_EQ(f->base_rtt(), 2500us) << "a delayed ACK is no longer path";
}

TEST(WindowClamp, ServerThatSendsIsKnownToo) {
  Scene s(kComplement);
  TcpView syn = s.segment(0, false);  // the receiver opens the connection
  syn.ack = false;
  syn.syn = true;
  syn.window_scale = kScale;
  EXPECT_EQ(s.clamp.on_answer(syn, s.queue, s.now), std::nullopt);
  s.now += 1ms;
  TcpView syn_ack = s.segment(0, true);
  syn_ack.syn = true;
  syn_ack.sequence = Scene::kFirst - 1;
  syn_ack.acknowledgment = syn.sequence + 1;
  syn_ack.window_scale = 3;
  s.clamp.on_data(syn_ack, s.queue, s.now);
  s.now += 2ms;
  s.answer(0, 0);
  const WindowFlow* f = s.clamp.flow(flow(0));
  EXPECT_TRUE(f->known());
  EXPECT_EQ(f->base_rtt(), 3ms);
  EXPECT_EQ(f->scale(), kScale);
}

TEST(WindowClamp, ScaleNeedsBothSyns) {
  Scene s(kComplement);
  s.open(0, -1, kScale);
  EXPECT_EQ(s.clamp.flow(flow(0))->scale(), 0) << "RFC 7323, 2.2";
  s.open(1, 2, -1);
  EXPECT_EQ(s.clamp.flow(flow(1))->scale(), 0);
}

TEST(WindowClamp, StandsAtAMultipleOfTheFlight) {
  Scene s(kComplement);
  s.open(0);
  EXPECT_NEAR(s.answer(0, 0), kPipe, 1000) << "small flows may send a bandwidth-delay product";
  s.cruise(0, 20);
  EXPECT_NEAR(s.answer(0, 20), kPipe, 128) << "so may all, where no burst was ever announced";
  EXPECT_EQ(s.clamp.flow(flow(0))->largest_flight(), 20 * kSegment);
  s.start(1);
  s.clamp.on_burst_payload(kWorker, 1000, 1, s.queue, s.now);
  s.queue.threshold.reset();
  s.now += 1s;  // released, settled
  s.send(0, 20);
  s.now += 3ms;
  EXPECT_NEAR(segments(s.answer(0, 20)), 30, 0.1) << "from then on 1.5 x the flight";
  EXPECT_GT(s.reason(WindowReason::kStanding), 0U);
  s.now += 1ms;
  s.send(0, 30);
  s.now += 2ms;
  EXPECT_GT(segments(s.answer(0, 30)), 44) << "a sender that comes up to it is let go";
}

TEST(WindowClamp, EdgeStandsWhileHeldAndNeverMovesLeft) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 40);
  s.start();
  std::uint32_t edge = s.acked[0] + s.answer(0, 0);
  const std::uint32_t at_start = edge;
  for (int i = 0; i < 60; ++i) {
    const std::uint32_t told = s.answer(0, 1);
    ASSERT_GE(s.acked[0] + told, edge) << "left";
    ASSERT_GE(told, 2 * kSegment) << "two segments, or a delayed ACK decides";
    edge = s.acked[0] + told;
    if (segments(told) > 4) {
      ASSERT_LT(edge, at_start + 128U * 60) << "stands, but for the unit of the scale";
    }
    s.now += 50us;
    if (s.sent[0] - s.acked[0] < told) s.send(0);
  }
  EXPECT_GT(edge, at_start) << "at the floor it moves with the ACKs";
  EXPECT_GT(s.reason(WindowReason::kHeld), 50U);
  EXPECT_EQ(s.send(0), WindowTreatment::kHeld);
}

TEST(WindowClamp, NoFlowIsHeldBelowTheLeastSegments) {
  for (const std::uint32_t least : {1U, 2U, 5U}) {
    WindowPolicy policy = kStrict;
    policy.floor = 0;
    policy.least_segments = least;
    Scene s(policy);
    s.open(0);
    s.cruise(0, 40);
    s.start();
    std::uint32_t smallest = s.answer(0, 0);
    for (int i = 0; i < 80; ++i) {
      s.now += 50us;
      const std::uint32_t told = s.answer(0, s.sent[0] > s.acked[0] ? 1 : 0);
      smallest = std::min(smallest, told);
      if (s.sent[0] - s.acked[0] + kSegment <= told) s.send(0);
    }
    EXPECT_GE(smallest, least * kSegment) << least;
    EXPECT_LT(smallest, least * kSegment + 128) << least << ": but for the unit of the scale";
  }
}

// A flow without enough in flight for a wide standing window, and a wide least window.
TEST(WindowClamp, LeastSegmentsHoldForFlowsOfASmallFlight) {
  constexpr std::uint32_t kLeast = 64;
  WindowPolicy policy = kStrict;
  policy.least_segments = kLeast;
  Scene s(policy);
  s.open(0);
  s.cruise(0, 8);
  s.start();
  for (int i = 0; i < 20; ++i) {
    EXPECT_GE(s.answer(0, 1), kLeast * kSegment);
    s.send(0);
  }
  EXPECT_GT(s.reason(WindowReason::kHeld), 0U);
}

// What it was held at were two segments of the size that it sent before.
TEST(WindowClamp, ReleasedFlowThatSendsLargerSegmentsKeepsTheLeastOfThem) {
  constexpr std::uint32_t kSmallSegment = 1U << kScale;  // edges are told without rounding
  WindowPolicy policy = kStrict;
  policy.floor = 0;
  Scene s(policy);
  s.open(0);
  const auto send = [&s](std::uint32_t bytes) {
    TcpView data = s.segment(0, true);
    data.sequence = Scene::kFirst + s.sent[0];
    data.payload_bytes = static_cast<std::uint16_t>(bytes);
    data.frame_bytes = bytes + 54;
    s.clamp.on_data(data, s.queue, s.now);
    s.sent[0] += bytes;
  };
  const auto acknowledge_all = [&s] {
    s.acked[0] = s.sent[0];
    return s.answer(0, 0);
  };
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 100; ++i) send(kSmallSegment);
    s.now += 2ms;
    acknowledge_all();
    s.now += 1ms;
  }
  s.start();
  for (int i = 0; i < 1000; ++i) send(kSmallSegment), acknowledge_all();
  ASSERT_TRUE(s.clamp.holding());
  EXPECT_LT(acknowledge_all(), 2 * kSegment);
  EXPECT_GT(s.reason(WindowReason::kHeld), 0U);
  s.queue.threshold.reset();
  acknowledge_all();
  ASSERT_FALSE(s.clamp.holding());
  send(kSegment);
  EXPECT_GE(acknowledge_all(), 2 * kSegment);
  EXPECT_GT(s.reason(WindowReason::kReleasing), 0U);
}

TEST(WindowClamp, ComplementLeavesWhatTheBurstDoesNotUse) {
  Scene s(kComplement);
  s.open(0);
  s.cruise(0, 60);
  s.start();
  for (int i = 0; i < 35; ++i) s.answer(0, 1);  // the standing window's slack is used up
  const double idle = segments(s.answer(0, 1));
  EXPECT_NEAR(idle, segments(kPipe) + 10, 0.2) << "capacity x RTT + h: nothing is in flight yet";
  s.clamp.on_burst_payload(kWorker, 1000, 10 * kSegment, s.queue, s.now);
  for (int i = 0; i < 20; ++i) s.answer(0, 1);
  EXPECT_NEAR(segments(s.answer(0, 1)), idle - 20, 0.2) << "gain 2, ten segments in flight";
  s.clamp.on_burst_ack(kWorker, 1000 + 5 * kSegment);
  EXPECT_NEAR(segments(s.answer(0, 1)), idle - 10, 0.2) << "half is acknowledged: given back";
}

TEST(WindowClamp, FlowsShareByTheirFlight) {
  Scene s(kStrict);
  s.open(0);
  s.open(1);
  for (int i = 0; i < 12; ++i) {
    s.send(0, 40);
    s.send(1, 20);
    s.now += 2ms;
    s.answer(0, 40);
    s.answer(1, 20);
    s.now += 1ms;
  }
  s.send(0, 40);
  s.send(1, 20);
  s.clamp.on_start(kWorker, 1000, 0, s.now);
  s.queue = {.waiting_bytes = 400'000, .threshold = 10};  // floor of 5 %: 24 kB, 16 segments
  // A round trip is 16 ms of queue and 3 ms of path. Half of it, 9.5 ms, of the ten base round
  // trips' 30 ms may pass between trains.
  const double margin = 30 / (30 - 9.5);
  const double floor = margin * 0.05 * (kPipe + 400'000.0 * kSegment / (kFrame + 24));
  for (int i = 0; i < 100; ++i) {
    s.answer(0, 1);
    s.answer(1, 1);
    s.now += 100us;
    s.send(0);
    s.send(1);
  }
  const double first = s.answer(0, 0), second = s.answer(1, 0);
  EXPECT_GE(first + second, floor);
  EXPECT_LE(first + second, floor + 2 * kSegment + 2 * 128) << "whole segments";
  EXPECT_NEAR(first / second, 2, 0.5) << "flights are measured a little too large";
}

TEST(WindowClamp, ReleasesWithTheLastByteOverARoundTrip) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 40);
  s.start(200'000);
  for (int i = 0; i < 70; ++i) {
    s.answer(0, 1);
    s.send(0);
  }
  ASSERT_TRUE(s.clamp.holding());
  s.queue.waiting_bytes = 200'000;  // 8 ms: nothing is gained by an early release
  s.clamp.on_burst_payload(kWorker, 1000, 199'999, s.queue, s.now);
  EXPECT_TRUE(s.clamp.holding());
  s.clamp.on_burst_payload(kWorker, 200'999, 1, s.queue, s.now);
  EXPECT_FALSE(s.clamp.holding());
  EXPECT_EQ(s.clamp.counters().releases, 1U);
  const double held = segments(s.answer(0, 0));
  s.now += 1500us;
  const double half = segments(s.answer(0, 0, kTrueWindow - 1));
  s.now += 1500us;
  const double all = segments(s.answer(0, 0));
  EXPECT_NEAR(all, segments(kPipe) + 10, 0.2) << "its share of path and threshold";
  EXPECT_NEAR(half, (held + all) / 2, 0.2);
  EXPECT_EQ(s.send(0), WindowTreatment::kHeld) << "lumps are spared";
  s.now += 10ms;
  s.queue.waiting_bytes = 0;
  EXPECT_EQ(s.send(0), WindowTreatment::kControlled);
}

// For a predicted burst its destination and the length of the previous burst are known.
TEST(WindowClamp, HoldsForAPredictedBurstUntilAsMuchHasCome) {
  Scene s(kComplement);
  s.open(0);
  s.cruise(0, 60);
  s.queue.threshold = 10;
  s.clamp.on_prediction(kWorker.destination_address, 200'000, s.now);
  for (int i = 0; i < 35; ++i) s.answer(0, 1);
  const double idle = segments(s.answer(0, 1));
  EXPECT_NEAR(idle, segments(kPipe) + 10, 0.2) << "until it comes, all of the path, and h";
  FlowKey other = kWorker;  // of the same job, by the same server
  ++other.source_address;
  s.clamp.on_burst_payload(kWorker, 1000, 6 * kSegment, s.queue, s.now);
  s.clamp.on_burst_payload(other, 77, 4 * kSegment, s.queue, s.now);
  for (int i = 0; i < 20; ++i) s.answer(0, 1);
  EXPECT_NEAR(segments(s.answer(0, 1)), idle - 20, 0.2) << "gain 2, ten segments in flight";
  s.clamp.on_burst_ack(other, 77 + 4 * kSegment);
  EXPECT_NEAR(segments(s.answer(0, 1)), idle - 12, 0.2);
  s.queue.waiting_bytes = 200'000;  // 8 ms: nothing is gained by an early release
  s.clamp.on_burst_payload(kWorker, 1000, 200'000 - 4 * kSegment - 1, s.queue, s.now);
  EXPECT_TRUE(s.clamp.holding());
  s.clamp.on_burst_payload(other, 77 + 4 * kSegment, 1, s.queue, s.now);
  EXPECT_FALSE(s.clamp.holding());
  EXPECT_EQ(s.clamp.counters().releases, 1U);
  s.clamp.on_burst_payload(other, 78 + 4 * kSegment, 1, s.queue, s.now);
  EXPECT_TRUE(s.clamp.holding()) << "longer than the one before";
  s.queue.threshold.reset();
  s.clamp.on_burst_payload(other, 79 + 4 * kSegment, 1, s.queue, s.now);
  EXPECT_FALSE(s.clamp.holding());
}

TEST(WindowClamp, ReleasesWhenRegulationEndsForWhateverReason) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 40);
  s.start();  // and the worker dies
  for (int i = 0; i < 70; ++i) s.answer(0, 1), s.send(0);
  ASSERT_TRUE(s.clamp.holding());
  s.queue.threshold.reset();  // expiry, budget, idle
  s.answer(0, 0);
  EXPECT_FALSE(s.clamp.holding());
  s.now += 3ms;
  EXPECT_GT(segments(s.answer(0, 1)), 50);
}

TEST(WindowClamp, FlowsAlreadyInRecoveryAreNotHeld) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 40);
  s.answer(0, 0, kTrueWindow, true);
  s.start();
  for (int i = 0; i < 30; ++i) s.answer(0, 1);
  EXPECT_GT(s.answer(0, 1), 2 * 40 * kSegment) << "a hole before START: wide";
  EXPECT_EQ(s.reason(WindowReason::kHeld), 0U);
}

// The flow's congestion window may still be large, so with a wide window it would send all of it at
// once.
TEST(WindowClamp, FlowsThatLoseWhileHeldKeepTwiceWhatTheyAreHeldAt) {
  Scene s(kStrict);
  s.open(0);
  s.cruise(0, 40);
  s.start();
  for (int i = 0; i < 58; ++i) s.answer(0, 1), s.send(0);
  const std::uint32_t held = s.answer(0, 0);
  ASSERT_LT(held, 5 * kSegment);
  const std::uint32_t told = s.answer(0, 0, kTrueWindow, true);
  EXPECT_GE(told, 4 * kSegment) << "room for the ACKs that tell a loss";
  EXPECT_LE(told, 2 * held + 128U);
  EXPECT_EQ(s.reason(WindowReason::kRecovery), 1U);
  Scene t(kStrict);
  t.open(0);
  t.cruise(0, 40);
  t.start();
  for (int i = 0; i < 58; ++i) t.answer(0, 1), t.send(0);
  t.sent[0] -= kSegment;
  t.send(0, 1);  // again
  EXPECT_LE(t.answer(0, 0), 10 * kSegment) << "a segment seen twice";
  EXPECT_GT(t.reason(WindowReason::kRecovery), 0U);
}

// A sender without SACK counts ACKs that repeat the last one including its window (RFC 5681, 2).
TEST(WindowClamp, RepeatedAckStaysOneAndAWindowUpdateDoesNotBecomeOne) {
  Scene s(kComplement);
  s.open(0);
  s.cruise(0, 60);
  s.start(20'000);
  s.clamp.on_burst_payload(kWorker, 1000, 10'000, s.queue, s.now);
  for (int i = 0; i < 50; ++i) s.answer(0, 1);
  s.answer(0, 1);
  const std::uint16_t first = s.last_field;
  s.clamp.on_burst_ack(kWorker, 11'000);  // there is more room now
  s.answer(0, 0);
  EXPECT_EQ(s.last_field, first) << "repeated as it was";
  s.answer(0, 0, kTrueWindow - 5);
  EXPECT_NE(s.last_field, first) << "the receiver's window moved";
}

TEST(WindowClamp, LeavesAloneWhatItDoesNotKnow) {
  Scene s(kStrict);
  s.start();
  EXPECT_EQ(s.send(0, 20), WindowTreatment::kFallback) << "in mid-stream";
  EXPECT_EQ(s.answer(0, 1), std::uint32_t{kTrueWindow} << kScale);
  EXPECT_EQ(s.reason(WindowReason::kUnknown), 1U);
  EXPECT_EQ(s.clamp.counters().flows_without_handshake, 1U);

  TcpView syn = s.segment(1, true);
  syn.ack = false;
  syn.syn = syn.authenticated = true;
  syn.sequence = Scene::kFirst - 1;
  s.clamp.on_data(syn, s.queue, s.now);
  EXPECT_EQ(s.send(1, 20), WindowTreatment::kFallback);
  EXPECT_EQ(s.answer(1, 1), std::uint32_t{kTrueWindow} << kScale);
  EXPECT_EQ(s.clamp.counters().flows_authenticated, 1U);

  s.open(2);
  EXPECT_EQ(s.send(2, 40), WindowTreatment::kControlled);
  EXPECT_EQ(s.send(2, 20), WindowTreatment::kFallback)
      << "beyond what the SYN-ACK offered: its ACKs go another way";

  s.open(3);
  s.send(3, 40);
  TcpView fin = s.segment(3, true);
  fin.fin = true;
  fin.sequence = Scene::kFirst + s.sent[3];
  s.clamp.on_data(fin, s.queue, s.now);
  EXPECT_EQ(s.answer(3, 1), std::uint32_t{kTrueWindow} << kScale) << "nothing more will come";
  EXPECT_EQ(s.clamp.counters().rewritten, 0U);
}

TEST(WindowClamp, ReceiverMayOfferLess) {
  Scene s(kComplement);
  s.open(0);
  s.cruise(0, 60);
  EXPECT_EQ(s.answer(0, 1, 20), 20U << kScale);
  EXPECT_EQ(s.reason(WindowReason::kReceiver), 1U);
  EXPECT_EQ(s.answer(0, 1, 0), 0U) << "a closed window is the receiver's own";
}

TEST(WindowClamp, TableIsBoundedAndEvictsWhatIsNotInUse) {
  WindowPolicy policy = kStrict;
  policy.max_flows = 4;
  Scene s(policy);
  for (std::uint32_t f = 0; f < 4; ++f) {
    s.open(f);
    s.send(f);
  }
  EXPECT_EQ(s.send(9), WindowTreatment::kFallback) << "all are in use";
  EXPECT_EQ(s.clamp.counters().flows_refused, 1U);
  EXPECT_EQ(s.clamp.flows(), 4U);
  s.now += 2s;
  s.send(0);
  s.open(5);
  EXPECT_EQ(s.clamp.counters().flows_evicted, 1U);
  EXPECT_NE(s.clamp.flow(flow(0)), nullptr) << "it has just sent";
  EXPECT_NE(s.clamp.flow(flow(5)), nullptr);
  const WindowCounters& c = s.clamp.counters();
  EXPECT_EQ(c.flows_added, c.flows_evicted + s.clamp.flows());
}

}  // namespace
}  // namespace outrider::window_clamp_test
