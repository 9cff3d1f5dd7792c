// Goal: with HPCC data packets carry telemetry, the acknowledgment returns that of the newest one,
// and the controller hears of it; without HPCC no byte is added, and such packets are refused.
// Method: two queue pairs that hand each other datagrams, as hosts do, with a hop between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "common/net/headers.h"
#include "trafficgen/roce/queue_pair.h"

namespace outrider::telemetry_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr Time kStart = Time{} + 1s;
constexpr std::uint32_t kIpBytes = sizeof(Ipv4Header) + sizeof(UdpHeader);
constexpr std::uint32_t kMtu = 1024;

struct Ignored final : QueuePairListener {
  void on_received(QueuePair&, Time) noexcept override {}
  void on_acknowledged(QueuePair&, Time) noexcept override {}
  void on_gave_up(QueuePair&, Time) noexcept override {}
};

/// Returns the IP packet of a datagram, with its ICRC.
Bytes packet_of(const OutgoingDatagram& d) {
  const std::uint32_t udp = 8 + d.head_bytes + d.value_bytes + roce::kIcrcBytes;
  Bytes p(20 + udp);
  p[0] = 0x45;
  p[9] = 17;
  p[22] = roce::kPort >> 8;
  p[23] = roce::kPort & 0xFF;
  p[24] = static_cast<std::uint8_t>(udp >> 8);
  p[25] = static_cast<std::uint8_t>(udp);
  std::copy_n(d.head.begin(), d.head_bytes, p.begin() + kIpBytes);
  const std::size_t end = p.size() - roce::kIcrcBytes;
  const std::uint32_t icrc = roce::icrc(p, static_cast<std::uint32_t>(end));
  for (std::size_t i = 0; i < 4; ++i) p[end + i] = static_cast<std::uint8_t>(icrc >> 8 * i);
  return p;
}

bool hand_in(QueuePair& to, const Bytes& p, Time now) {
  ReceivedDatagram d;
  d.ip = p;
  d.present = d.ip.subspan(kIpBytes);
  d.payload_bytes = static_cast<std::uint32_t>(d.present.size());
  for (int i = 0; i < 4; ++i)
    d.trailer |= std::uint32_t{p[p.size() - 4 + static_cast<std::size_t>(i)]} << 8 * i;
  return !to.on_datagram(d, now);
}

struct Pair {
  explicit Pair(RoceController near_control, RoceController far_control)
      : near_config{.controller = near_control},
        far_config{.controller = far_control},
        near(near_config, setup(7, 8), ignored),
        far(far_config, setup(8, 7), ignored) {}
  explicit Pair(RoceController control = RoceController::kHpcc) : Pair(control, control) {}

  static QueuePair::Setup setup(std::uint16_t own, std::uint32_t peer) {
    return {.flow = {},
            .path_mtu = kMtu,
            .own_queue_pair = own,
            .peer_queue_pair = peer,
            .line = BitRate{80'000'000'000}};
  }
  static Bytes next(QueuePair& from, Time now) {
    OutgoingDatagram out;
    from.next_datagram(out, now);
    return packet_of(out);
  }
  /// A hop that was in use until now writes into the packet.
  static void pass_hop(Bytes& p, Time now) {
    Bytes frame(14);  // the IP header is not at 0
    frame.insert(frame.end(), p.begin(), p.end());
    ASSERT_EQ(roce::append_telemetry(
                  frame, 14, 1,
                  {.at = now.time_since_epoch(), .busy = now.time_since_epoch(), .queue = {}}),
              hop_trace::Appended::kYes);
    std::copy(frame.begin() + 14, frame.end(), p.begin());
  }
  [[nodiscard]] double window() { return *near.requester().control().state(kStart).window_bytes; }

  Ignored ignored;
  RoceConfig near_config, far_config;
  QueuePair near, far;
};

TEST(RoceTelemetryPair, ReturnsWhatHopsHaveWritten) {
  Pair p;
  p.near.requester().append(3 * kMtu, 1, kStart);
  const double first = p.window();
  EXPECT_DOUBLE_EQ(first, 80e9 * 25e-6 / 8) << "base_rtt is 25 us";
  std::vector<double> windows;
  Time now = kStart;
  for (int i = 0; i < 3; ++i, now += 30us) {
    Bytes data = Pair::next(p.near, now);
    const std::size_t headers = i == 0 ? 12 + 16 : i == 1 ? 12 : 12 + 4;
    EXPECT_EQ(data.size(), kIpBytes + headers + 44 + kMtu + 4);
    Pair::pass_hop(data, now);
    ASSERT_TRUE(hand_in(p.far, data, now));
    ASSERT_TRUE(p.far.has_datagram(now)) << "every packet asks";
    const Bytes ack = Pair::next(p.far, now);
    EXPECT_EQ(ack.size(), kIpBytes + 12 + 4 + 44 + 4);
    ASSERT_TRUE(hand_in(p.near, ack, now));
    windows.push_back(p.window());
  }
  EXPECT_DOUBLE_EQ(windows[0], first) << "nothing to compare with";
  EXPECT_DOUBLE_EQ(windows[1], first * 0.95 + 80);
  EXPECT_DOUBLE_EQ(windows[2], (first * 0.95 + 80) * 0.95 + 80);
  EXPECT_TRUE(p.near.requester().requests().idle());
  EXPECT_TRUE(p.near.counters().balanced());
  EXPECT_TRUE(p.far.counters().balanced());
}

TEST(RoceTelemetryPair, PacesWhatItSendsWithTelemetry) {
  Pair p;
  p.near.requester().append(2 * kMtu, 1, kStart);
  const Bytes first = Pair::next(p.near, kStart);
  const double wire_bytes = static_cast<double>(first.size()) + 14 + kL1OverheadBytes;
  EXPECT_EQ(p.near.next_timer(),
            kStart + Duration{static_cast<std::int64_t>(wire_bytes * 8 / 80e9 * 1e9)});
}

// Two data packets before the answer leaves.
TEST(RoceTelemetryPair, TheNewestIsReturnedOnce) {
  Pair p;
  p.near.requester().append(2 * kMtu, 1, kStart);
  Bytes one = Pair::next(p.near, kStart), two = Pair::next(p.near, kStart + 1us);
  Pair::pass_hop(one, kStart);
  Pair::pass_hop(two, kStart + 1us);
  const Bytes again = two;
  ASSERT_TRUE(hand_in(p.far, one, kStart));
  ASSERT_TRUE(hand_in(p.far, two, kStart));
  const Bytes ack = Pair::next(p.far, kStart);
  EXPECT_TRUE(std::equal(ack.begin() + kIpBytes + 16, ack.begin() + kIpBytes + 16 + 44,
                         two.begin() + kIpBytes + 16));
  EXPECT_FALSE(p.far.has_datagram(kStart));
  Pair without(RoceController::kSwift);
  without.near.requester().append(kMtu, 1, kStart);
  ASSERT_TRUE(hand_in(p.far, Pair::next(without.near, kStart), kStart))
      << "asks, and tells nothing";
  EXPECT_EQ(Pair::next(p.far, kStart).size(), kIpBytes + 12 + 4 + 4);
  ASSERT_TRUE(hand_in(p.far, again, kStart)) << "asks again";
  EXPECT_EQ(Pair::next(p.far, kStart).size(), kIpBytes + 12 + 4 + 44 + 4);
}

TEST(RoceTelemetryPair, ACnpCarriesNone) {
  Pair p;
  p.near.requester().append(kMtu, 1, kStart);
  const Bytes data = Pair::next(p.near, kStart);
  ReceivedDatagram d;
  d.ip = data;
  d.present = d.ip.subspan(kIpBytes);
  d.payload_bytes = static_cast<std::uint32_t>(d.present.size());
  d.ecn = Ecn::kCe;
  d.icrc_known = true;
  ASSERT_FALSE(p.far.on_datagram(d, kStart).has_value());
  EXPECT_EQ(Pair::next(p.far, kStart).size(), kIpBytes + 12 + 16 + 4) << "the CNP";
  EXPECT_EQ(Pair::next(p.far, kStart).size(), kIpBytes + 12 + 4 + 44 + 4);
}

TEST(RoceTelemetryPair, WithoutHpccNothingIsAdded) {
  Pair p(RoceController::kSwift);
  p.near.requester().append(kMtu, 1, kStart);
  const Bytes data = Pair::next(p.near, kStart);
  EXPECT_EQ(data.size(), kIpBytes + 12 + 16 + 4 + kMtu + 4);
  ASSERT_TRUE(hand_in(p.far, data, kStart));
  EXPECT_EQ(Pair::next(p.far, kStart).size(), kIpBytes + 12 + 4 + 4);
}

TEST(RoceTelemetryPair, WithoutHpccItIsRefused) {
  Pair p(RoceController::kHpcc, RoceController::kDcqcn);
  p.near.requester().append(kMtu, 1, kStart);
  EXPECT_FALSE(hand_in(p.far, Pair::next(p.near, kStart), kStart));
  EXPECT_EQ(p.far.counters().malformed, 1U);
  EXPECT_TRUE(p.far.counters().balanced());
}

// Anybody may write anything where switches write. What is not theirs to write is covered.
TEST(RoceTelemetryPair, AChangedPacketIsRefusedUnlessASwitchMayChangeIt) {
  struct Row {
    const char* what;
    std::size_t at;
    bool passes;
  };
  constexpr std::size_t kSection = kIpBytes + 12 + 16 + 4;
  const Row rows[]{{"hops", kSection + 1, true},
                   {"path", kSection + 2, true},
                   {"the last record", kSection + 43, true},
                   {"the magic", kSection, false},
                   {"the PSN", kIpBytes + 11, false},
                   {"payload", kSection + 44, false}};
  for (const Row& row : rows) {
    Pair p;
    p.near.requester().append(kMtu, 1, kStart);
    Bytes data = Pair::next(p.near, kStart);
    data[row.at] ^= 0x40;
    EXPECT_EQ(hand_in(p.far, data, kStart), row.passes) << row.what;
    EXPECT_EQ(p.far.counters().in_order, row.passes ? 1U : 0U) << row.what;
    EXPECT_TRUE(p.far.counters().balanced());
  }
  Pair p;
  p.near.requester().append(kMtu, 1, kStart);
  ASSERT_TRUE(hand_in(p.far, Pair::next(p.near, kStart), kStart));
  Bytes ack = Pair::next(p.far, kStart);
  ack[kIpBytes + 16 + 10] ^= 1;
  EXPECT_FALSE(hand_in(p.near, ack, kStart)) << "an acknowledgment is covered whole";
  EXPECT_EQ(p.near.counters().bad_icrc, 1U);
}

}  // namespace
}  // namespace outrider::telemetry_test
