// Goal: frames are what an independent reader expects, and every packet that was
// numbered reaches the device or is named. Method: a device that takes as many
// packets as the test says, checksums summed again word by word.
#include "trafficgen/streams/engine/stream_sender.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "tests/unit/streams/stream_fixture.h"

namespace outrider::stream_sender_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Frame = std::vector<std::uint8_t>;

std::uint32_t be(const Frame& f, std::size_t at, std::size_t n) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < n; ++i) v = v << 8 | f.at(at + i);
  return v;
}

struct Sent {
  FlowKey flow;
  StreamStamp stamp;
};

/// Reads it from RFC 791 and RFC 768, without the code under test.
Sent check_frame(const Frame& f, std::size_t buffer_bytes, bool with_checksum) {
  EXPECT_EQ(f.size(), buffer_bytes);
  EXPECT_EQ(be(f, 12, 2), 0x0800U);
  EXPECT_EQ(f[14], 0x45);
  EXPECT_EQ(be(f, 16, 2), buffer_bytes - 14);
  EXPECT_EQ(internet_checksum(std::span(f).subspan(14, 20)), 0);
  EXPECT_EQ(f[23], 17);
  EXPECT_EQ(be(f, 38, 2), buffer_bytes - 34);
  if (with_checksum) {
    const auto pseudo = std::uint32_t{17} + static_cast<std::uint32_t>(buffer_bytes - 34) +
                        be(f, 26, 2) + be(f, 28, 2) + be(f, 30, 2) + be(f, 32, 2);
    EXPECT_NE(be(f, 40, 2), 0U);
    EXPECT_EQ(internet_checksum(std::span(f).subspan(34), pseudo), 0);
  } else {
    EXPECT_EQ(be(f, 40, 2), 0U);
  }
  for (std::size_t i = 60; i < f.size(); ++i) EXPECT_EQ(f[i], 0) << "byte " << i;
  EXPECT_EQ(be(f, 42, 4), 0x4F525354U);
  const auto ticks = std::uint64_t{be(f, 54, 2)} << 32 | be(f, 56, 4);
  return {{be(f, 26, 4), be(f, 30, 4), static_cast<std::uint16_t>(be(f, 34, 2)),
           static_cast<std::uint16_t>(be(f, 36, 2))},
          {be(f, 46, 4) >> 22, be(f, 46, 4) & 0x3FFFFF, be(f, 50, 4), ticks}};
}

class StreamSenderTest : public testing::Test {
 protected:
  std::unique_ptr<StreamSender> sender(const StreamConfig& s, std::uint32_t id = 0) {
    return std::make_unique<StreamSender>(s, id, std::make_shared<StreamFlows>(s),
                                          StreamSchedule::Setup{.stream = s}, pool_.get());
  }
  TestPool pool_{1024, 2048};
  FakeDevice device_;
};

TEST_F(StreamSenderTest, WritesFramesThatReadBack) {
  for (const bool full : {false, true}) {
    StreamConfig s = stream();
    s.udp_checksum = full ? UdpChecksum::kFull : UdpChecksum::kZero;
    s.imix = simple_imix();
    s.flows = 100;
    s.source_addresses = 3;
    s.destination_addresses = 2;
    s.destination_ports = 2;
    s.dscp = 46;
    s.ecn = Ecn::kEct0;
    s.source_mac = "02:00:00:00:00:01";
    s.destination_mac = "02:00:00:00:00:02";
    const auto made = sender(s, 1023);
    device_.frames.clear();
    std::set<FlowKey> seen;
    StreamSchedule same({.stream = s});
    for (int k = 0; k < 300; ++k) {
      const Departure d = same.take();
      const std::uint64_t ticks = 0xFEDCBA9876543210ULL + static_cast<std::uint64_t>(k);
      ASSERT_EQ(made->poll(device_, {d.due, ticks}), 1);
      const Frame& frame = device_.frames.back();
      const Sent sent = check_frame(frame, same.sizes()[d.size] - 4, full);
      EXPECT_EQ(sent.stamp, (StreamStamp{1023, d.flow, d.sequence, ticks & 0xFFFFFFFFFFFF}));
      EXPECT_EQ(read_stamp(frame.data() + 42), sent.stamp);
      EXPECT_EQ(sent.flow, flow_of(s, d.flow));
      EXPECT_EQ(frame[15], 46 << 2 | 2);
      EXPECT_EQ(frame[5], 2);
      EXPECT_EQ(frame[11], 1);
      seen.insert(sent.flow);
    }
    EXPECT_EQ(seen.size(), 100U) << "all flows differ";
  }
}

TEST_F(StreamSenderTest, SendsAtMostABatchAPollAndNothingTooEarly) {
  const auto made = sender(stream());
  EXPECT_EQ(made->poll(device_, {Time{0us}, 0}), 1);
  EXPECT_EQ(made->poll(device_, {Time{999ns}, 0}), 0);
  EXPECT_EQ(made->poll(device_, {Time{5us}, 0}), 5);
  EXPECT_EQ(made->poll(device_, {Time{100us}, 0}), 32);
  EXPECT_EQ(made->poll(device_, {Time{100us}, 0}), 32);
  EXPECT_EQ(made->poll(device_, {Time{100us}, 0}), 31);
  EXPECT_EQ(made->counters().sent, 101U);
  EXPECT_EQ(made->counters().frame_bytes, 64U * 101U);
  made->finish();
  EXPECT_EQ(pool_.in_use(), 0U);
}

TEST_F(StreamSenderTest, AFullRingDelaysNumberedPacketsAndStampsThemAnew) {
  for (const bool full : {false, true}) {
    device_ = FakeDevice{};
    StreamConfig s = stream();
    s.udp_checksum = full ? UdpChecksum::kFull : UdpChecksum::kZero;
    const auto made = sender(s);
    RandomStream chance(5, 0, RandomPurpose::kTest);
    Time now{};
    for (std::uint64_t poll = 0; poll < 3000; ++poll) {
      now += Duration{static_cast<std::int64_t>(chance.next_u32() % 20'000)};
      device_.room = chance.next_u32() % 20;
      const std::size_t before = device_.frames.size();
      made->poll(device_, {now, poll});
      for (std::size_t i = before; i < device_.frames.size(); ++i) {
        const Sent sent = check_frame(device_.frames[i], 60, full);
        ASSERT_EQ(sent.stamp.sequence, i) << "in order, none missing";
        ASSERT_EQ(sent.stamp.ticks, poll) << "stamped when the device took it";
      }
      ASSERT_EQ(made->schedule().taken(), made->counters().sent + made->pending());
      ASSERT_EQ(made->counters().sent, device_.frames.size());
    }
    EXPECT_GT(made->counters().ring_full, 100U);
    EXPECT_GT(device_.frames.size(), 1000U);
    device_.room = 0;
    made->poll(device_, {now + 1ms, 0});
    made->poll(device_, {now + 2ms, 0});
    const auto pending = made->pending();
    EXPECT_GT(pending, 0);
    made->finish();
    EXPECT_EQ(made->counters().abandoned, pending);
    EXPECT_EQ(made->schedule().taken(), made->counters().sent + made->counters().abandoned);
    EXPECT_EQ(pool_.in_use(), 0U);
  }
}

TEST_F(StreamSenderTest, AnEmptyPoolIsWaitedFor) {
  TestPool small(40, 128);
  const StreamConfig s = stream();
  StreamSender made(s, 0, std::make_shared<StreamFlows>(s), {.stream = s}, small.get());
  std::vector<Packet*> taken(30);
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(&small.get(), taken.data(), 30), 0);
  EXPECT_EQ(made.poll(device_, {Time{1ms}, 0}), 0);
  EXPECT_EQ(made.counters().buffer_waits, 1U);
  rte_pktmbuf_free_bulk(taken.data(), 30);
  EXPECT_EQ(made.poll(device_, {Time{1ms}, 0}), 32);
  EXPECT_EQ(check_frame(device_.frames[0], 60, false).stamp.sequence, 0U) << "nothing was skipped";
  made.finish();
}

TEST_F(StreamSenderTest, LatenessIsMeasuredAndBounded) {
  StreamConfig s = stream();
  s.max_lag = 10us;
  const auto made = sender(s);
  made->poll(device_, {Time{0us}, 0});
  made->poll(device_, {Time{Duration{1300}}, 0});
  EXPECT_EQ(made->lateness().max(), 300U);
  EXPECT_EQ(made->gap_error().max(), 300U) << "1.3 us instead of 1 us";
  made->poll(device_, {Time{100us}, 0});  // 32 of the 99 that are due
  EXPECT_EQ(made->counters().slips, 1U);
  EXPECT_EQ(made->counters().slipped, 100us - 34us) << "packet 34 was to be next";
  EXPECT_EQ(made->next(), Time{100us});
}

TEST_F(StreamSenderTest, AchievedRateIsTheRequestedOneWhenNothingIsLate) {
  StreamConfig s = stream();
  s.pattern = StreamPattern::kOnOff;
  s.burst_packets = 10;
  s.gap = 90us;
  s.packets = 100;
  const auto made = sender(s);
  while (!made->done()) made->poll(device_, {made->next(), 0});
  EXPECT_EQ(made->time_covered(), 1ms);
  EXPECT_EQ(device_.frames.size(), 100U);
}

}  // namespace
}  // namespace outrider::stream_sender_test
