// Goal: datagrams of an endpoint leave as RFC 768 says, find the other end, have their turn
// at the NIC beside connections, and what only looks like one is counted by name.
// Method: frames read byte by byte, two hosts with a wire, damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/frames/datagram_frame.h"
#include "trafficgen/hosts/host.h"

namespace outrider::datagram_host_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kUdp = 34, kPayload = 42;
constexpr FlowKey kFlow{0x0A000101, 0x0A000301, 40'000, 5000};

OutgoingDatagram datagram_of(std::uint32_t head_bytes, std::uint32_t value_bytes,
                             std::uint8_t first = 1) {
  OutgoingDatagram d;
  d.head_bytes = head_bytes;
  for (std::uint32_t i = 0; i < head_bytes; ++i) d.head[i] = static_cast<std::uint8_t>(first + i);
  d.value_bytes = value_bytes;
  d.tos = 46 << 2 | 2;
  return d;
}

Bytes written(const OutgoingDatagram& d, TestPool& pool, bool full) {
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  write_datagram_frame(*packet, kFlow, d, full);
  const auto bytes = buffer(*packet);
  const std::uint32_t frame = std::max(60U, 42U + d.head_bytes + d.value_bytes);
  EXPECT_EQ(meta(*packet).frame_bytes, frame);
  EXPECT_EQ(bytes.size(), full ? frame : std::max(60U, 42U + d.head_bytes));
  Bytes copy(bytes.begin(), bytes.end());
  release(packet);
  return copy;
}

// Pseudo header and UDP, by other code than the one that wrote it; what is absent is zeros.
bool udp_checksum_valid(const Bytes& frame) {
  const std::size_t udp_bytes = std::size_t{frame[kUdp + 4]} << 8 | frame[kUdp + 5];
  Bytes summed(frame.begin() + 26, frame.begin() + 34);
  for (const std::size_t word : {std::size_t{17}, udp_bytes}) {
    summed.push_back(static_cast<std::uint8_t>(word >> 8));
    summed.push_back(static_cast<std::uint8_t>(word));
  }
  const auto present = std::min(udp_bytes, frame.size() - kUdp);
  summed.insert(summed.end(), frame.begin() + kUdp,
                frame.begin() + kUdp + static_cast<std::ptrdiff_t>(present));
  return internet_checksum(summed) == 0;
}

TEST(DatagramFrame, IsAWholeUdpDatagram) {
  for (const bool full : {false, true}) {
    TestPool pool(4, full ? 2048 : kHeaderRoomBytes);
    for (std::uint32_t first = 0; first < 256; ++first) {
      const auto d = datagram_of(40, 1432, static_cast<std::uint8_t>(first));
      const Bytes f = written(d, pool, full);
      ASSERT_TRUE(udp_checksum_valid(f)) << first;
      if (first != 1) continue;
      EXPECT_EQ(internet_checksum({f.data() + 14, 20}), 0);
      EXPECT_EQ(f[15], 46 << 2 | 2);
      EXPECT_EQ(f[16] << 8 | f[17], 1500);
      EXPECT_EQ(f[23], 17);
      EXPECT_EQ(f[kUdp + 4] << 8 | f[kUdp + 5], 1480);
      for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(f[kPayload + i], 1 + i);
      EXPECT_TRUE(std::all_of(f.begin() + kPayload + 40, f.end(), [](auto b) { return b == 0; }));
    }
  }
}

// A buffer that held a long head and then holds a short one, or a segment.
TEST(DatagramFrame, LeavesNothingBehindInTheBuffer) {
  TestPool pool(1, 2048);
  (void)written(datagram_of(OutgoingDatagram::kMaxHeadBytes, 1000, 100), pool, true);
  const Bytes f = written(datagram_of(24, 400), pool, true);
  EXPECT_TRUE(std::all_of(f.begin() + kPayload + 24, f.end(), [](auto b) { return b == 0; }));
  (void)written(datagram_of(OutgoingDatagram::kMaxHeadBytes, 1000, 100), pool, true);
  Packet* packet = rte_pktmbuf_alloc(&pool.get());
  TcpSegment segment;
  segment.payload_bytes = 500;
  write_frame(*packet, kFlow, 0, segment, true);
  EXPECT_TRUE(
      std::ranges::all_of(buffer(*packet).subspan(kUdp + 20), [](auto b) { return b == 0; }));
  release(packet);
}

std::optional<DropReason> read(TestPool& pool, const Bytes& frame, std::uint32_t frame_bytes) {
  Packet* packet = packet_of(pool.get(), frame);
  meta(*packet).frame_bytes = frame_bytes;
  ReceivedFrame tcp;
  auto dropped = read_frame(*packet, tcp);
  ReceivedDatagram datagram;
  if (dropped == DropReason::kNoConnection) dropped = read_datagram_frame(*packet, datagram);
  release(packet);
  return dropped;
}

TEST(DatagramFrame, DamageIsRefusedByName) {
  TestPool pool(4);
  const Bytes good = written(datagram_of(40, 100), pool, false);
  ASSERT_EQ(read(pool, good, 182), std::nullopt);
  struct Row {
    std::size_t byte;
    std::uint8_t value;
    bool reseal;
    DropReason reason;
    const char* why;
  };
  for (const Row& row : {
           Row{kPayload + 7, 77, false, DropReason::kBadChecksum, "another byte"},
           Row{kUdp + 7, static_cast<std::uint8_t>(good[kUdp + 7] ^ 1), false,
               DropReason::kBadChecksum, "another checksum"},
           Row{kUdp + 5, 149, false, DropReason::kMalformed, "longer than IP says"},
           Row{kUdp + 5, 7, false, DropReason::kMalformed, "not even a header"},
           Row{20, 0x20, true, DropReason::kNoConnection, "the first of several fragments"},
           Row{23, 1, true, DropReason::kNoConnection, "ICMP"},
       }) {
    Bytes bad = good;
    bad[row.byte] = row.value;
    if (row.reseal) reseal_ipv4(bad);
    EXPECT_EQ(read(pool, bad, 182), row.reason) << row.why;
  }
  EXPECT_EQ(read(pool, good, 181), DropReason::kMalformed) << "the wire carried less";
}

/// Sends what it is told, notes what comes.
class Endpoint final : public DatagramEndpoint {
 public:
  explicit Endpoint(const FlowKey& flow) : flow_(flow) {}
  [[nodiscard]] bool has_datagram(Time) const noexcept override { return !out.empty(); }
  void next_datagram(OutgoingDatagram& d, Time now) noexcept override {
    d = out.front();
    out.pop_front();
    left.push_back(now);
  }
  std::optional<DropReason> on_datagram(const ReceivedDatagram& d, Time now) noexcept override {
    if (d.present[0] == 0xFF) return DropReason::kMalformed;
    arrived.push_back(now);
    ecn = d.ecn;
    bytes = d.payload_bytes;
    return std::nullopt;
  }
  [[nodiscard]] Time next_timer() const noexcept override { return deadline; }
  void on_timer(Time now) noexcept override {
    rang.push_back(now);
    deadline = again;
    again = kNever;
  }
  [[nodiscard]] const FlowKey& flow() const noexcept override { return flow_; }

  std::deque<OutgoingDatagram> out;
  std::vector<Time> left, arrived, rang;
  Ecn ecn = Ecn::kNotEct;
  std::uint32_t bytes = 0;
  Time deadline = kNever, again = kNever;

 private:
  FlowKey flow_;
};

struct TwoHosts {
  TwoHosts() {
    a.nic().connect(to_b);
    b.nic().connect(to_a);
  }
  TestPool pool{64};
  EventLoop loop;
  TransportMemory memory{{}};
  Host a{{.name = "a", .address = kFlow.source_address, .rate = BitRate{1'000'000'000}},
         loop,
         pool.get(),
         memory};
  Host b{{.name = "b", .address = kFlow.destination_address, .rate = BitRate{1'000'000'000}},
         loop,
         pool.get(),
         memory};
  Link to_b{loop, 10us, b, 0};
  Link to_a{loop, 10us, a, 0};
};

TEST(DatagramHost, ADatagramFindsTheOtherEnd) {
  TwoHosts t;
  Endpoint here(kFlow), there(kFlow.reversed());
  t.a.add_endpoint(here);
  t.b.add_endpoint(there);
  here.out = {datagram_of(40, 1432), datagram_of(24, 0, 0xFF), datagram_of(40, 4)};
  t.a.changed(here, Time{});
  t.loop.run_until(Time{} + 1ms);
  ASSERT_EQ(here.left.size(), 3U);
  EXPECT_EQ(here.left[1] - here.left[0], 12'304ns) << "1538 B at 1 Gbit/s";
  ASSERT_EQ(there.arrived.size(), 2U);
  EXPECT_EQ(there.arrived[0], Time{} + 12'304ns + 10us);
  EXPECT_EQ(there.ecn, Ecn::kEct0);
  EXPECT_EQ(there.bytes, 44U);
  const HostCounters& c = t.b.counters();
  EXPECT_EQ(c.received, 3U);
  EXPECT_EQ(c.datagrams_taken, 2U);
  EXPECT_EQ(c.drops[DropReason::kMalformed], 1U);
}

TEST(DatagramHost, AStrangersDatagramIsNobodys) {
  TwoHosts t;
  FlowKey other = kFlow;
  other.source_port = 40'001;
  Endpoint here(other), there(kFlow.reversed());
  t.a.add_endpoint(here);
  t.b.add_endpoint(there);
  here.out = {datagram_of(40, 4)};
  t.a.changed(here, Time{});
  t.loop.run_until(Time{} + 1ms);
  EXPECT_TRUE(there.arrived.empty());
  EXPECT_EQ(t.b.counters().drops[DropReason::kNoConnection], 1U);
}

// Two endpoints with as much to send share the wire packet by packet.
TEST(DatagramHost, EndpointsTakeTurns) {
  TwoHosts t;
  FlowKey other = kFlow;
  other.source_port = 40'001;
  Endpoint first(kFlow), second(other);
  t.a.add_endpoint(first);
  t.a.add_endpoint(second);
  for (int n = 0; n < 10; ++n) {
    first.out.push_back(datagram_of(40, 1432));
    second.out.push_back(datagram_of(40, 1432));
  }
  t.a.changed(first, Time{});
  t.a.changed(second, Time{});
  t.loop.run_until(Time{} + 1ms);
  ASSERT_EQ(second.left.size(), 10U);
  // The first is in the queue again before the second comes.
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_LT(first.left[n + 1], second.left[n]);
    EXPECT_LT(second.left[n], first.left[n + 2]);
  }
}

// A deadline that moved later is asked again at the old time and rings at the new one.
TEST(DatagramHost, TimersRingOnceAndInTime) {
  TwoHosts t;
  Endpoint here(kFlow);
  t.a.add_endpoint(here);
  here.deadline = Time{} + 5ms;
  here.again = Time{} + 7ms;
  t.a.changed(here, Time{});
  here.deadline = Time{} + 3ms;
  t.a.changed(here, Time{});
  here.deadline = Time{} + 4ms;
  t.loop.run_until(Time{} + 20ms);
  EXPECT_EQ(here.rang, (std::vector<Time>{Time{} + 4ms, Time{} + 7ms}));
}

/// Sends a datagram each interval.
class Paced final : public DatagramEndpoint {
 public:
  explicit Paced(Duration interval) : interval_(interval) {}
  [[nodiscard]] bool has_datagram(Time now) const noexcept override { return now >= next_; }
  void next_datagram(OutgoingDatagram& d, Time now) noexcept override {
    EXPECT_TRUE(has_datagram(now));
    d = datagram_of(40, 1432);
    left.push_back(now);
    next_ = now + interval_;
    over_ = false;
  }
  std::optional<DropReason> on_datagram(const ReceivedDatagram&, Time) noexcept override {
    return std::nullopt;
  }
  [[nodiscard]] Time next_timer() const noexcept override { return over_ ? kNever : next_; }
  void look_ahead(Time free_at) noexcept override { over_ = free_at >= next_; }
  void on_timer(Time now) noexcept override {
    ++rang;
    over_ = now >= next_;
  }
  [[nodiscard]] const FlowKey& flow() const noexcept override { return kFlow; }

  std::vector<Time> left;
  int rang = 0;

 private:
  Duration interval_;
  Time next_{};
  bool over_ = true;
};

// An endpoint that may send when the NIC is free has its turn then; another one is woken.
TEST(DatagramHost, APacedEndpointHasATimerOnlyIfTheNicIsQuicker) {
  constexpr Duration kFrame = 12'304ns;
  for (const Duration interval : {Duration{12'000ns}, kFrame, Duration{12'305ns}, Duration{50us}}) {
    TwoHosts t;
    Paced here(interval);
    t.a.add_endpoint(here);
    t.a.changed(here, Time{});
    t.loop.run_until(Time{} + 10 * interval);
    ASSERT_GE(here.left.size(), 10U) << interval.count();
    for (std::size_t n = 1; n < 10; ++n)
      EXPECT_EQ(here.left[n] - here.left[n - 1], std::max(interval, kFrame)) << interval.count();
    EXPECT_EQ(here.rang != 0, interval > kFrame) << interval.count();
  }
}

}  // namespace
}  // namespace outrider::datagram_host_test
