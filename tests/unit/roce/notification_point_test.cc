// Goal: a packet with CE makes a CNP that is due after the delay at the receiver, at most one in
// each interval, and none of those that wait is forgotten.
#include "trafficgen/roce/notification_point.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "trafficgen/roce/queue_pair.h"

namespace outrider::notification_point_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time{} + 1s;

TEST(NotificationPoint, WithoutADelayACnpIsDueAtOnce) {
  NotificationPoint cnps(RoceConfig{});
  EXPECT_FALSE(cnps.due());
  cnps.on_marked(kStart);
  EXPECT_TRUE(cnps.due());
  EXPECT_EQ(cnps.next_timer(), kNever);
  cnps.on_sent();
  cnps.on_marked(kStart + 49us);
  EXPECT_FALSE(cnps.due()) << "within the interval";
  cnps.on_marked(kStart + 50us);
  EXPECT_TRUE(cnps.due());
}

TEST(NotificationPoint, WithADelayEachIsDueItsDelayLater) {
  NotificationPoint cnps(RoceConfig{.cnp_interval = 10us, .cnp_delay = 55us});
  for (const auto at : {0us, 5us, 10us, 30us}) cnps.on_marked(kStart + at);  // 5 us makes none
  std::vector<Duration> due;
  while (cnps.next_timer() != kNever) {
    const Time now = cnps.next_timer();
    EXPECT_FALSE(cnps.due());
    cnps.on_timer(now - 1ns);
    EXPECT_FALSE(cnps.due());
    cnps.on_timer(now);
    EXPECT_TRUE(cnps.due());
    cnps.on_sent();
    due.push_back(now - kStart);
  }
  EXPECT_EQ(due, (std::vector<Duration>{55us, 65us, 85us}));
}

// As many wait as can be made within the delay: the ring was made for them.
TEST(NotificationPoint, AsManyWaitAsTheDelayHasIntervals) {
  NotificationPoint cnps(RoceConfig{.cnp_interval = 1us, .cnp_delay = 100us});
  int due = 0;
  for (int i = 0; i < 1000; ++i) {
    cnps.on_marked(kStart + i * 1us);
    if (!cnps.due()) continue;
    ++due;
    cnps.on_sent();
  }
  EXPECT_EQ(due, 900);
  EXPECT_EQ(cnps.next_timer(), kStart + 1000us);
}

TEST(NotificationPoint, OneThatHasNotLeftStandsForTheNext) {
  NotificationPoint cnps(RoceConfig{.cnp_interval = 10us, .cnp_delay = 10us});
  cnps.on_marked(kStart);
  cnps.on_marked(kStart + 10us);
  cnps.on_timer(kStart + 30us);
  cnps.on_sent();
  EXPECT_FALSE(cnps.due());
  EXPECT_EQ(cnps.next_timer(), kNever);
}

struct NoListener final : QueuePairListener {
  void on_received(QueuePair&, Time) noexcept override {}
  void on_acknowledged(QueuePair&, Time) noexcept override {}
  void on_gave_up(QueuePair&, Time) noexcept override {}
};

/// A responder's queue pair, to which packets with CE come.
struct Marked {
  explicit Marked(const RoceConfig& c)
      : config(c), pair(config, {.flow = {}, .own_queue_pair = 7}, listener) {}

  void hand_in(Time now) {
    const roce::Message m{.opcode = roce::Opcode::kSendMiddle, .psn = 5, .payload_bytes = 1024};
    std::array<std::uint8_t, roce::kMaxHeaderBytes> head{};
    ReceivedDatagram d;
    d.present = std::span(head).first(roce::encode(m, head));
    d.payload_bytes = static_cast<std::uint32_t>(d.present.size()) + 1024 + roce::kIcrcBytes;
    d.ecn = Ecn::kCe;
    d.icrc_known = true;
    EXPECT_FALSE(pair.on_datagram(d, now).has_value());
  }
  /// Takes what is to leave, by the DSCP.
  static std::uint32_t dscp_of(DatagramEndpoint& endpoint, Time now) {
    OutgoingDatagram out;
    endpoint.next_datagram(out, now);
    return out.tos >> 2;
  }

  RoceConfig config;
  NoListener listener;
  QueuePair pair;
};

constexpr std::uint32_t kDscp = 26, kCnpDscp = 46;

// The packet is out of order, so a NAK leaves at once.
TEST(RoceCnp, LeavesAfterItsDelayWithItsOwnDscp) {
  Marked m({.cnp_delay = 55us, .dscp = kDscp, .cnp_dscp = kCnpDscp});
  m.hand_in(kStart);
  EXPECT_EQ(Marked::dscp_of(m.pair, kStart), kDscp) << "the NAK";
  EXPECT_FALSE(m.pair.has_datagram(kStart + 55us));
  EXPECT_EQ(m.pair.next_timer(), kStart + 55us);
  EXPECT_EQ(m.pair.counters().cnps_sent, 0U);
  m.pair.on_timer(kStart + 55us);
  ASSERT_TRUE(m.pair.has_datagram(kStart + 55us));
  EXPECT_EQ(Marked::dscp_of(m.pair, kStart + 55us), kCnpDscp);
  EXPECT_EQ(m.pair.counters().cnps_sent, 1U);
  EXPECT_FALSE(m.pair.has_datagram(kStart + 1ms));
}

TEST(RoceCnp, WithAPriorityOfItsOwnLeavesApart) {
  Marked m({.dscp = kDscp, .cnp_dscp = kCnpDscp, .cnp_priority = 6});
  const auto apart = m.pair.apart();
  ASSERT_NE(apart.endpoint, nullptr);
  EXPECT_EQ(apart.priority, 6);
  EXPECT_FALSE(apart.endpoint->has_datagram(kStart));
  m.hand_in(kStart);
  EXPECT_EQ(Marked::dscp_of(m.pair, kStart), kDscp) << "the NAK";
  EXPECT_FALSE(m.pair.has_datagram(kStart)) << "the CNP is not its own to send";
  ASSERT_TRUE(apart.endpoint->has_datagram(kStart));
  EXPECT_EQ(Marked::dscp_of(*apart.endpoint, kStart), kCnpDscp);
  EXPECT_FALSE(apart.endpoint->has_datagram(kStart));
  EXPECT_EQ(m.pair.counters().cnps_sent, 1U);
  EXPECT_EQ(Marked({}).pair.apart().endpoint, nullptr) << "without one";
}

}  // namespace
}  // namespace outrider::notification_point_test
