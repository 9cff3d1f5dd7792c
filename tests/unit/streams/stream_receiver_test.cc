// Goal: losses, reordering and copies are what was done to the packets, and what
// is not ours has a name. Method: literal sequences, a naive model with unbounded
// memory beside random damage, frames changed byte by byte.
#include "trafficgen/streams/engine/stream_receiver.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::stream_receiver_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Frame = std::vector<std::uint8_t>;

TEST(SequenceTracker, NamesWhatALiteralSequenceDoes) {
  SequenceTracker t(1, true);
  const std::pair<std::uint32_t, SequenceTracker::Verdict> arrivals[] = {
      {0, {Arrived::kInOrder, 0, 0}},      {1, {Arrived::kInOrder, 0, 0}},
      {1, {Arrived::kDuplicate, 0, 0}},    {4, {Arrived::kInOrder, 0, 2}},
      {2, {Arrived::kReordered, 2, 0}},    {2, {Arrived::kDuplicate, 0, 0}},
      {3, {Arrived::kReordered, 1, 0}},    {0, {Arrived::kDuplicate, 0, 0}},
      {68, {Arrived::kInOrder, 0, 63}},    {5, {Arrived::kReordered, 63, 0}},
      {4, {Arrived::kBeyondWindow, 0, 0}}, {1U << 31, {Arrived::kImplausible, 0, 0}},
      {69, {Arrived::kInOrder, 0, 0}},
  };
  for (const auto& [sequence, expected] : arrivals)
    EXPECT_EQ(t.on_arrival(0, sequence), expected) << sequence;
  EXPECT_EQ(t.distinct(0), 8U);
}

TEST(SequenceTracker, WrapsAndStartsWhereTheFirstArrivalIs) {
  SequenceTracker t(2, false);
  constexpr std::uint32_t kLast = 0xFFFFFFFF;
  EXPECT_EQ(t.on_arrival(1, kLast - 1).arrived, Arrived::kInOrder);
  EXPECT_EQ(t.on_arrival(1, kLast - 2).arrived, Arrived::kBeyondWindow) << "before the first";
  EXPECT_EQ(t.on_arrival(1, kLast).skipped, 0U);
  EXPECT_EQ(t.on_arrival(1, 1).skipped, 1U) << "0 is missing";
  EXPECT_EQ(t.on_arrival(1, 0), (SequenceTracker::Verdict{Arrived::kReordered, 1, 0}));
  EXPECT_EQ(t.distinct(0), 0U);
}

TEST(SequenceTracker, AgreesWithAModelThatForgetsNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream chance(seed, 0, RandomPurpose::kTest);
    SequenceTracker t(1, true);
    std::set<std::uint32_t> seen;
    std::uint32_t next = 0;
    std::uint64_t counts[5] = {};
    for (std::uint32_t k = 0; k < 5000; ++k) {
      const std::uint32_t back = chance.next_u32() % 8 == 0 ? chance.next_u32() % 100 : 0;
      const std::uint32_t sequence = k < back ? 0 : k - back;
      if (chance.next_u32() % 5 == 0) continue;
      Arrived expected = Arrived::kInOrder;
      if (sequence < next) {
        if (next - 1 - sequence >= SequenceTracker::kWindow) expected = Arrived::kBeyondWindow;
        else expected = seen.contains(sequence) ? Arrived::kDuplicate : Arrived::kReordered;
      }
      if (expected != Arrived::kBeyondWindow) seen.insert(sequence);
      next = std::max(next, sequence + 1);
      ASSERT_EQ(t.on_arrival(0, sequence).arrived, expected) << sequence;
      ++counts[static_cast<int>(expected)];
    }
    EXPECT_EQ(t.distinct(0), seen.size());
    for (int i = 0; i < 4; ++i) EXPECT_GT(counts[i], 0U) << "branch " << i << " was not reached";
  }
}

/// Sends streams into a FakeDevice and gives the frames back.
class StreamReceiverTest : public testing::Test {
 protected:
  std::vector<Frame> frames_of(const StreamConfig& s, int n, std::uint64_t ticks = 1000) {
    FakeDevice device;
    StreamSender sender(s, 3, flows_of(s), {.stream = s}, pool_.get());
    for (int i = 0; i < n; ++i) sender.poll(device, {sender.next(), ticks});
    return device.frames;
  }
  static std::shared_ptr<const StreamFlows> flows_of(const StreamConfig& s) {
    return std::make_shared<const StreamFlows>(s);
  }
  StreamReceiver receiver(const StreamConfig& s, std::uint32_t samples = 0) {
    return StreamReceiver({{3, flows_of(s), true, samples}}, 2'000'000'000);
  }
  static StreamEnd take(StreamReceiver& r, const Frame& f, std::uint64_t ticks = 3000) {
    return r.receive(f, static_cast<std::uint32_t>(f.size()), ticks);
  }
  TestPool pool_{1024, 2048};
};

TEST_F(StreamReceiverTest, CountsLossReorderingAndCopiesByFlow) {
  StreamConfig s = stream();
  s.flows = 2;
  const auto f = frames_of(s, 12);  // flow k % 2, number k / 2
  StreamReceiver r = receiver(s);
  for (const std::size_t k : {0U, 1U, 4U, 2U, 2U, 3U, 10U, 11U})
    EXPECT_EQ(take(r, f[k]), StreamEnd::kTaken);
  const StreamReceiveCounters& c = r.counters(0);
  EXPECT_EQ(c.taken, 8U);
  EXPECT_EQ(c.distinct, 7U);
  EXPECT_EQ(c.duplicated, 1U);
  EXPECT_EQ(c.reordered, 1U) << "number 1 of flow 0 after number 2";
  EXPECT_EQ(c.max_extent, 1U);
  EXPECT_EQ(c.missing(), 5U) << "flow 0 lacks 3, 4; flow 1 lacks 2, 3, 4";
  EXPECT_EQ(c.frame_bytes, 8U * 64U);
}

TEST_F(StreamReceiverTest, LatencyIsInNanosecondsAndRawSamplesAreBounded) {
  const StreamConfig s = stream();
  StreamReceiver r = receiver(s, 2);
  const auto f = frames_of(s, 3);
  take(r, f[0], 1000);
  take(r, f[1], 1002);
  take(r, f[2], 3000);
  EXPECT_EQ(r.latency(0).min(), 0U);
  EXPECT_EQ(r.latency(0).max(), 1000U) << "2000 ticks at 2 GHz";
  EXPECT_EQ(r.samples(0), (std::vector<StreamSample>{{0, false}, {1, false}}));
  EXPECT_EQ(r.counters(0).samples_not_kept, 1U);
}

// A stamp has the low 48 bits of the counter.
TEST_F(StreamReceiverTest, LatencyDoesNotDependOnTheCountersWrap) {
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 48;
  for (const std::uint64_t sent : {kWrap - 1000, kWrap - 1, kWrap, 7 * kWrap + 5}) {
    StreamReceiver r = receiver(stream());
    const auto f = frames_of(stream(), 2, sent);
    EXPECT_EQ(take(r, f[0], sent + 2000), StreamEnd::kTaken) << sent;
    EXPECT_EQ(r.latency(0).max(), 1000U) << sent;
    EXPECT_EQ(take(r, f[1], sent - 1), StreamEnd::kBadStamp) << sent;
  }
}

TEST_F(StreamReceiverTest, WhatIsNotOursHasAName) {
  StreamConfig s = stream();
  s.udp_checksum = UdpChecksum::kFull;
  s.flows = 2;
  StreamReceiver r = receiver(s);
  const auto good = frames_of(s, 2);
  const auto changed = [&](std::size_t at, std::uint8_t to, bool reseal) {
    Frame f = good[0];
    f[at] = to;
    if (reseal) {
      f[40] = f[41] = 0;  // no UDP checksum: what is wrong must show otherwise
      reseal_ipv4(f);
    }
    return f;
  };
  EXPECT_EQ(take(r, Frame(60, 0)), StreamEnd::kForeign);
  EXPECT_EQ(take(r, Frame(good[0].begin(), good[0].begin() + 59)), StreamEnd::kForeign);
  EXPECT_EQ(take(r, changed(42, 0, true)), StreamEnd::kForeign) << "no stamp";
  EXPECT_EQ(take(r, changed(23, 6, true)), StreamEnd::kForeign) << "TCP";
  EXPECT_EQ(take(r, changed(22, 1, false)), StreamEnd::kBadChecksum) << "TTL";
  EXPECT_EQ(take(r, changed(51, 9, false)), StreamEnd::kBadChecksum) << "its number";
  EXPECT_EQ(take(r, changed(39, 200, true)), StreamEnd::kTruncated) << "UDP length";
  EXPECT_EQ(take(r, changed(46, 1, true)), StreamEnd::kUnknownFlow) << "another stream";
  EXPECT_EQ(take(r, changed(48, 9, true)), StreamEnd::kUnknownFlow) << "flow 2304";
  EXPECT_EQ(take(r, changed(49, 1, true)), StreamEnd::kWrongFlow) << "flow 1's stamp";
  EXPECT_EQ(take(r, changed(29, 77, true)), StreamEnd::kWrongFlow) << "source address";
  EXPECT_EQ(take(r, good[0], 999), StreamEnd::kBadStamp) << "departs in the future";
  EXPECT_EQ(take(r, changed(50, 0x80, true)), StreamEnd::kBadStamp) << "number 2^31";
  EXPECT_EQ(take(r, good[0]), StreamEnd::kTaken);
  EXPECT_EQ(take(r, good[1]), StreamEnd::kTaken);
  EXPECT_EQ(r.arrived(), 15U);
  EXPECT_EQ(r.ended(StreamEnd::kTaken), r.counters(0).taken);
}

TEST_F(StreamReceiverTest, CongestionMarksAreCounted) {
  StreamConfig s = stream();
  s.ecn = Ecn::kEct0;
  auto f = frames_of(s, 2);
  f[1][15] |= 3;
  reseal_ipv4(f[1]);
  StreamReceiver r = receiver(s);
  take(r, f[0]);
  take(r, f[1]);
  EXPECT_EQ(r.counters(0).ce_marked, 1U);
}

/// A wire that loses, repeats and swaps.
struct FaultyDevices {
  mutable std::vector<Packet*> wire{};
  struct Device {
    std::vector<Packet*>* wire;
    std::uint16_t tx(Packet** packets, std::uint16_t n) const {
      wire->insert(wire->end(), packets, packets + n);
      return n;
    }
  };
  [[nodiscard]] Device port(std::size_t) const { return {&wire}; }
};

TEST_F(StreamReceiverTest, TheEnginesReportBalancesUnderDamage) {
  StreamConfig s = stream();
  s.flows = 50;
  s.receive_device = "d";
  s.packets = 20'000;
  s.udp_checksum = UdpChecksum::kFull;
  StreamEngine engine({.streams = {s}, .devices = {{"d"}}}, pool_.get());
  const FaultyDevices devices;
  RandomStream chance(7, 0, RandomPurpose::kTest);
  std::uint64_t lost = 0;
  std::uint64_t copies = 0;
  std::uint64_t broken = 0;
  Time now{};
  while (!engine.done(now)) {
    now += 20us;
    const auto ticks = static_cast<std::uint64_t>(now.time_since_epoch().count());
    engine.send(devices, {now, ticks});
    if (chance.next_u32() % 2 == 0) std::reverse(devices.wire.begin(), devices.wire.end());
    for (Packet* packet : devices.wire) {
      const std::uint32_t fate = chance.next_u32() % 10;
      if (fate == 0) {
        ++lost;
      } else if (fate == 1) {
        buffer(*packet)[47] ^= 0x10;
        ++broken;
        EXPECT_EQ(engine.receive(*packet, ticks + 500), StreamEnd::kBadChecksum);
        buffer(*packet)[47] ^= 0x10;
      } else {
        engine.receive(*packet, ticks + 500);
        if (fate == 2) {
          engine.receive(*packet, ticks + 600);
          ++copies;
        }
      }
      release(packet);
    }
    devices.wire.clear();
  }
  engine.finish();
  const StreamsReport report = engine.report();
  const StreamReport& r = report.streams.at(0);
  EXPECT_TRUE(balanced(report));
  EXPECT_EQ(r.sent, 20'000U);
  EXPECT_EQ(r.lost, lost + broken);
  EXPECT_EQ(r.duplicated, copies);
  EXPECT_EQ(report.ends.bad_checksum, broken);
  EXPECT_EQ(r.latency_ns.min(), 500U);
  EXPECT_EQ(r.latency_ns.max(), 600U);
  EXPECT_GT(lost, 1000U);
  EXPECT_EQ(to_csv(report).substr(0, 5), "name,");
}

}  // namespace
}  // namespace outrider::stream_receiver_test
