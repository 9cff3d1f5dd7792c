// Two hosts and two wires, every frame noted on its way.
#include "trafficgen/hosts/host.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "common/core/units.h"
#include "common/net/checksum.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"

namespace outrider::host_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

constexpr Duration kDelay = 10us;

// Notes a packet and passes it on, with another TOS byte if one is set.
class Noting final : public Node {
 public:
  explicit Noting(Node& to) : to_(to) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    if (tos) {
      auto& ip = header_at<Ipv4Header>(*packet, sizeof(EthernetHeader));
      ip.tos = *tos;
      const std::uint16_t checksum = ipv4_checksum(ip);
      std::memcpy(ip.checksum.raw.data(), &checksum, sizeof checksum);
    }
    seen.push_back(arrival_of(*packet, port, now));
    if (only_to && seen.back().flow.destination_address != *only_to) return release(packet);
    to_.receive(port, packet, now);
  }
  std::vector<Arrival> seen;
  std::optional<std::uint8_t> tos{};
  std::optional<std::uint32_t> only_to{};  ///< packets to other addresses vanish

 private:
  Node& to_;
};

class App final : public Acceptor,
                  public ConnectionListener,
                  public SignalListener,
                  public TimerClient {
 public:
  Offer accept(const FlowKey&) noexcept override { return {&config, this, 0}; }
  void on_accepted(TcpConnection&) noexcept override { ++accepted; }
  void on_established(TcpConnection&, Time) noexcept override { ++established; }
  void on_delivered(TcpConnection&, Time) noexcept override {}
  void on_closed(TcpConnection& c, Time) noexcept override {
    ++closed;
    was_reset |= c.state() == ConnectionState::kReset;
  }
  void on_signal_ack(const FlowKey& flow, std::optional<Duration> /*told_lead*/,
                     Time now) noexcept override {
    acks.emplace_back(flow, now);
  }
  void on_timer(std::uint32_t tag, Time now) noexcept override { timers.emplace_back(tag, now); }

  TcpConfig config;
  int accepted = 0, established = 0, closed = 0;
  bool was_reset = false;
  std::vector<std::pair<FlowKey, Time>> acks;
  std::vector<std::pair<std::uint32_t, Time>> timers;
};

struct Pair {
  static Host::Setup setup(const char* name, const char* address, BitRate rate,
                           std::uint32_t tso_bytes, std::uint32_t max_half_open = 16'384) {
    return {.name = name,
            .address = ip(address),
            .rate = rate,
            .tso_bytes = tso_bytes,
            .max_half_open = max_half_open};
  }
  explicit Pair(BitRate rate = BitRate{1'000'000'000}, std::uint32_t tso_bytes = 0,
                std::uint32_t max_half_open = 16'384)
      : a(setup("a", "10.0.1.1", rate, tso_bytes), loop, pool.get(), memory),
        b(setup("b", "10.0.3.1", rate, tso_bytes, max_half_open), loop, pool.get(), memory),
        to_a(a),
        to_b(b),
        wire_to_b(loop, kDelay, to_b, 0),
        wire_to_a(loop, kDelay, to_a, 0) {
    a.nic().connect(wire_to_b);
    b.nic().connect(wire_to_a);
    a.signals().take_tos();
    b.signals().take_tos();
  }
  ~Pair() {
    wire_to_a.flush();
    wire_to_b.flush();
  }
  static FlowKey flow(std::uint16_t source_port = 40'000) {
    return {ip("10.0.1.1"), ip("10.0.3.1"), source_port, 5000};
  }
  void run(Duration to) { loop.run_until(Time{to}); }
  static void expect_balanced(const Host& host) {
    const HostCounters& c = host.counters();
    std::uint64_t dropped = 0;
    for (const auto n : c.drops) dropped += n;
    EXPECT_EQ(c.received, c.to_connections + c.signals_taken + dropped) << host.setup().name;
  }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Host a, b;
  Noting to_a, to_b;
  Link wire_to_b, wire_to_a;
};

TEST(Host, NicSendsAtItsRateCountedOnLayerOne) {
  constexpr BitRate kRate{100'000'000};
  Pair p(kRate);
  App client, server;
  p.b.connections().listen(5000, server);
  TcpConnection& c = p.a.open(Pair::flow(), client.config, 0, client, Time{});
  p.a.send(c, 3'000'000, Time{});
  p.run(200ms);
  const auto& seen = p.to_b.seen;
  ASSERT_GT(seen.size(), 1'000U);
  std::uint64_t back_to_back = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    // The last bit of a frame never comes sooner after that of the one before
    // than the frame takes (1 ns for the fraction that is carried over).
    const Duration least{wire_bytes(seen[i].frame_bytes) * 80};
    ASSERT_GE(seen[i].at - seen[i - 1].at, least - 1ns) << "frame " << i;
    back_to_back += seen[i].at - seen[i - 1].at <= least + 1ns;
  }
  EXPECT_GT(back_to_back, 900U) << "and a busy NIC leaves no gaps";
  Pair::expect_balanced(p.a);
  Pair::expect_balanced(p.b);
}

// Two connections with data in the same NIC: how long is each one's turn?
std::size_t longest_run(std::uint32_t tso_bytes) {
  Pair p(BitRate{1'000'000'000}, tso_bytes);
  App client, server;
  client.config.control.initial_window_segments = 100;
  p.b.connections().listen(5000, server);
  TcpConnection& first = p.a.open(Pair::flow(40'000), client.config, 0, client, Time{});
  TcpConnection& second = p.a.open(Pair::flow(40'001), client.config, 0, client, Time{});
  p.run(1ms);
  p.a.send(first, 140'000, Time{1ms});
  p.a.send(second, 140'000, Time{1ms});
  p.run(3ms);
  std::size_t longest = 0, run = 0;
  std::uint16_t last = 0;
  for (const Arrival& a : p.to_b.seen) {
    if (a.payload_bytes == 0) continue;
    run = a.flow.source_port == last ? run + 1 : 1;
    last = a.flow.source_port;
    // The last segments of a connection have nobody to take turns with.
    if (a.at < Time{2ms}) longest = std::max(longest, run);
  }
  EXPECT_GT(p.to_b.seen.size(), 100U);
  Pair::expect_balanced(p.a);
  return longest;
}

TEST(Host, OffloadKeepsTheTurnForItsBytes) {
  EXPECT_EQ(longest_run(0), 2U)
      << "segments take turns, after one that left before the others came";
  EXPECT_EQ(longest_run(14'480), 10U) << "10 segments of 1448 bytes";
  EXPECT_EQ(longest_run(15'000), 10U) << "an eleventh would be more than it takes";
}

TEST(Host, AllocatesOnlyPortsThatAreFree) {
  Pair p;
  App client;
  const std::uint32_t peer = ip("10.0.3.1");
  const auto next = p.a.connections().free_port(p.a.ports(), peer, 5000, Time{});
  ASSERT_TRUE(next);
  const auto taken = static_cast<std::uint16_t>(*next + 1);
  p.a.open(Pair::flow(taken), client.config, 0, client, Time{});
  EXPECT_EQ(p.a.connections().free_port(p.a.ports(), peer, 5000, Time{}), taken + 1)
      << "passes over the open one";
  for (std::uint32_t n = 0; n < 32'765; ++n)
    ASSERT_NE(p.a.connections().free_port(p.a.ports(), peer, 5000, Time{}), taken);
  EXPECT_EQ(p.a.connections().free_port(p.a.ports(), peer, 5000, Time{}), *next)
      << "they come round again";
  EXPECT_EQ(p.a.connections().free_port(p.a.ports(), peer, 5001, Time{}), taken)
      << "free towards another port";
}

TEST(Host, StartIsAnsweredWithAnAckOfTheReversedFlow) {
  Pair p;
  App app;
  p.a.signals().hear_acks(Pair::flow(), app);
  p.a.send_start(TosStart{Pair::flow(), 123'456, 10}, Time{5us});
  p.run(1ms);
  ASSERT_EQ(p.to_b.seen.size(), 1U);
  const Arrival& start = p.to_b.seen[0];
  EXPECT_EQ(start.tos, start_tos(10)) << "Not-ECT: nobody may mark it";
  EXPECT_EQ(start.sequence, 123'456U) << "names the burst's first byte";
  EXPECT_EQ(start.payload_bytes, 0);
  EXPECT_EQ(start.frame_bytes, 60U);
  EXPECT_EQ(start.at, Time{5us + 672ns + kDelay}) << "84 bytes at 1 Gbit/s, then the wire";
  ASSERT_EQ(p.to_a.seen.size(), 1U);
  const Arrival& ack = p.to_a.seen[0];
  EXPECT_EQ(ack.flow, Pair::flow().reversed());
  EXPECT_EQ(ack.tos, ack_tos(10)) << "repeats the code";
  ASSERT_EQ(app.acks.size(), 1U);
  EXPECT_EQ(app.acks[0].first, Pair::flow()) << "heard by the flow as it was sent";
  EXPECT_EQ(app.acks[0].second, ack.at);
  EXPECT_EQ(p.a.counters().starts_sent, 1U);
  EXPECT_EQ(p.a.counters().acks_received, 1U);
  EXPECT_EQ(p.b.counters().acks_sent, 1U);

  p.a.signals().forget_acks(Pair::flow());
  p.a.send_start(TosStart{Pair::flow(), 200'000, 10}, Time{1ms});
  p.run(2ms);
  EXPECT_EQ(app.acks.size(), 1U) << "forgotten";
  EXPECT_EQ(p.a.counters().acks_received, 2U) << "but still counted";
  Pair::expect_balanced(p.a);
}

// A peer may give its segments any DSCP; EF (46) reads as START, AF21 (18) as its answer. Only a
// segment without flags is a signal, which TCP itself never sends.
TEST(Host, AcknowledgmentsOfAnyDscpReachTheirConnection) {
  for (std::uint8_t dscp = 0; dscp < 64; ++dscp) {
    Pair p;
    App client, server;
    p.to_a.tos = static_cast<std::uint8_t>(dscp << 2);
    p.b.connections().listen(5000, server);
    TcpConnection& c = p.a.open(Pair::flow(), client.config, 0, client, Time{});
    p.a.send(c, 200'000, Time{});
    p.run(100ms);
    EXPECT_EQ(c.stream().acked_bytes(), 200'000U) << int{dscp};
    EXPECT_EQ(p.a.counters().signals_taken, 0U) << int{dscp};
    EXPECT_EQ(p.b.counters().acks_received, 0U) << int{dscp};
    Pair::expect_balanced(p.a);
  }
}

// Where nobody asked for signals, a segment without flags is one that TCP does not know.
TEST(Host, AStartForNobodyIsLeftToTcp) {
  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Host host(Pair::setup("h", "10.0.3.1", BitRate{1'000'000'000}, 0), loop, pool.get(), memory);
  Collector wire_end;
  Link wire(loop, kDelay, wire_end, 0);
  host.nic().connect(wire);
  host.receive(
      0, make_packet(pool.get(), {.flow = Pair::flow(), .tos = start_tos(10), .tcp_flags = 0}),
      Time{});
  loop.run_until(Time{1ms});
  EXPECT_EQ(host.counters().signals_taken, 0U);
  EXPECT_EQ(host.counters().drops[DropReason::kNoConnection], 1U);
  ASSERT_EQ(wire_end.size(), 1U);
  EXPECT_EQ(wire_end.arrivals[0].tcp_flags, kTcpRst | kTcpAck);
}

TEST(Host, SignalsLeaveBeforeData) {
  Pair p(BitRate{100'000'000});
  App client, server;
  p.b.connections().listen(5000, server);
  TcpConnection& c = p.a.open(Pair::flow(), client.config, 0, client, Time{});
  p.run(1ms);
  ASSERT_EQ(client.established, 1);
  p.to_b.seen.clear();
  p.a.send(c, 14'000, Time{1ms});  // ten segments of the first window: 1.2 ms on the wire
  p.a.send_start(TosStart{Pair::flow(41'000), 1, 10}, Time{1ms + 100us});
  p.run(20ms);
  ASSERT_GT(p.to_b.seen.size(), 5U);
  EXPECT_GT(p.to_b.seen[0].payload_bytes, 0) << "in service already";
  EXPECT_TRUE(tos_signal::decode(p.to_b.seen[1].tos).has_value())
      << "next, before nine waiting segments";
  EXPECT_GT(p.to_b.seen[2].payload_bytes, 0);
}

TEST(Host, ConnectionsTakeTurns) {
  Pair p(BitRate{100'000'000});
  App client, server;
  p.b.connections().listen(5000, server);
  TcpConnection& first = p.a.open(Pair::flow(40'001), client.config, 0, client, Time{});
  TcpConnection& second = p.a.open(Pair::flow(40'002), client.config, 0, client, Time{});
  p.run(1ms);
  p.to_b.seen.clear();
  p.a.send(first, 14'000, Time{1ms});
  p.a.send(second, 14'000, Time{1ms});
  p.run(1ms + 1500us);
  std::vector<std::uint16_t> order;
  for (const auto& s : p.to_b.seen)
    if (s.payload_bytes > 0) order.push_back(s.flow.source_port);
  ASSERT_GE(order.size(), 10U);
  // The first one had the idle wire, and the next turn, before the second spoke.
  for (std::size_t i = 2; i < 10; ++i) EXPECT_NE(order[i], order[i - 1]) << "segment " << i;
}

TEST(Host, UnknownSegmentsAreAnsweredWithReset) {
  struct Row {
    std::uint8_t flags;
    std::uint16_t payload;
    bool answered;
    std::uint8_t rst_flags;
    std::uint32_t sequence, acknowledgment;
    const char* why;
  };
  // The segment has sequence 1000 and acknowledges 0 (RFC 9293, 3.10.7.1).
  const Row rows[] = {
      {kTcpSyn, 0, true, kTcpRst | kTcpAck, 0, 1001, "SYN to a closed port: SYN counts one"},
      {kTcpAck, 0, true, kTcpRst, 0, 0, "RST takes the number that was acknowledged"},
      {kTcpAck, 100, true, kTcpRst, 0, 0, "with payload too"},
      {0, 100, true, kTcpRst | kTcpAck, 0, 1100, "without ACK: acknowledges what came"},
      {kTcpFin, 10, true, kTcpRst | kTcpAck, 0, 1011, "FIN counts one"},
      {kTcpRst, 0, false, 0, 0, 0, "RST is never answered"},
      {kTcpRst | kTcpAck, 0, false, 0, 0, 0, "in no form"},
  };
  for (const auto& row : rows) {
    Pair p;
    p.wire_to_b.push(make_packet(p.pool.get(), {.flow = Pair::flow(),
                                                .sequence = 1000,
                                                .tcp_flags = row.flags,
                                                .payload_bytes = row.payload}),
                     Time{});
    p.run(1ms);
    ASSERT_EQ(p.to_a.seen.size(), row.answered ? 1U : 0U) << row.why;
    EXPECT_EQ(p.b.counters().drops[DropReason::kNoConnection], 1U) << row.why;
    Pair::expect_balanced(p.b);
    if (!row.answered) continue;
    EXPECT_EQ(p.to_a.seen[0].flow, Pair::flow().reversed()) << row.why;
    EXPECT_EQ(p.to_a.seen[0].tcp_flags, row.rst_flags) << row.why;
    EXPECT_EQ(p.to_a.seen[0].sequence, row.sequence) << row.why;
    EXPECT_EQ(p.to_a.seen[0].acknowledgment, row.acknowledgment) << row.why;
  }
}

TEST(Host, RefusedConnectionIsReset) {
  Pair p;
  App client;
  p.a.open(Pair::flow(), client.config, 0, client, Time{});
  p.run(1ms);
  EXPECT_EQ(client.closed, 1);
  EXPECT_TRUE(client.was_reset);
  EXPECT_EQ(p.b.counters().resets_sent, 1U);
}

TEST(Host, DamagedFramesAreCountedAndReleased) {
  Pair p;
  auto frame = bytes_of({.flow = Pair::flow()});
  frame[24] ^= 1;
  p.wire_to_b.push(packet_of(p.pool.get(), frame), Time{});
  p.run(1ms);
  EXPECT_EQ(p.b.counters().drops[DropReason::kBadChecksum], 1U);
  EXPECT_TRUE(p.to_a.seen.empty());
  EXPECT_EQ(p.pool.in_use(), 0U);
  Pair::expect_balanced(p.b);
}

TEST(Host, ConnectionsOpenTransferAndClose) {
  Pair p;
  App client, server;
  p.b.connections().listen(5000, server);
  TcpConnection& c = p.a.open(Pair::flow(), client.config, 0, client, Time{});
  p.a.send(c, 1'000'000, Time{});
  p.run(500ms);
  EXPECT_EQ(c.stream().acked_bytes(), 1'000'000U);
  p.a.close(c, Time{500ms});
  p.run(2s);
  EXPECT_EQ(client.established, 1);
  EXPECT_EQ(server.accepted, 1);
  EXPECT_EQ(p.pool.in_use(), 0U) << "nothing is under way";
  Pair::expect_balanced(p.a);
  Pair::expect_balanced(p.b);
}

// Numbers repeat for a flow, since a START names them in advance, but not without the key.
TEST(Host, InitialSequenceNumbersDependOnAKey) {
  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  std::set<std::uint32_t> numbers;
  for (std::uint64_t n = 0; n < 64; ++n) {
    Host::Setup setup = Pair::setup("h", "10.0.1.1", BitRate{1'000'000'000}, 0);
    setup.sequence_key = {n / 8, n % 8};
    Host host(setup, loop, pool.get(), memory);
    EXPECT_EQ(host.connections().initial_sequence(Pair::flow()),
              host.connections().initial_sequence(Pair::flow()));
    numbers.insert(host.connections().initial_sequence(Pair::flow()));
    numbers.insert(host.connections().initial_sequence(Pair::flow(40'001)));
    App app;
    Collector end;
    Link wire(loop, kDelay, end, 0);
    host.nic().connect(wire);
    host.open(Pair::flow(), app.config, 0, app, Time{n * 1ms});
    loop.run_until(Time{n * 1ms + 500us});
    ASSERT_EQ(end.size(), 1U);
    EXPECT_EQ(end.arrivals[0].sequence, host.connections().initial_sequence(Pair::flow()));
  }
  EXPECT_EQ(numbers.size(), 128U);
}

// Each SYN of a flood takes a connection until it is known whether its sender exists. Their number
// is bounded, and established connections are not touched.
TEST(Host, ASynFloodLeavesABoundedNumberOfHalfOpenConnections) {
  constexpr std::uint32_t kFlood = 20'000, kMost = 1000;
  Pair p(BitRate{1'000'000'000}, 0, kMost);
  App client, server, flooded;
  p.b.connections().listen(5000, server);
  p.b.connections().listen(5001, flooded);
  TcpConnection& c = p.a.open(Pair::flow(), client.config, 0, client, Time{});
  p.run(1ms);
  ASSERT_EQ(server.established, 1);
  p.to_a.only_to = ip("10.0.1.1");  // nobody answers for the others
  Time now{1ms};
  p.a.send(c, 100'000, now);
  for (std::uint32_t i = 0; i < kFlood; ++i) {
    now += i < kFlood / 2 ? 1us : 100ns;  // faster than answers leave
    const FlowKey flow{ip("10.9.0.0") + i, ip("10.0.3.1"), 1024, 5001};
    p.loop.run_until(now);
    p.b.receive(0, make_packet(p.pool.get(), {.flow = flow, .tcp_flags = kTcpSyn}), now);
    ASSERT_LE(flooded.accepted - flooded.closed, kMost);
  }
  p.run(500ms);
  const TcpEvents& events = p.memory.events;
  EXPECT_GT(events.half_open_evicted, kFlood / 2 - kMost - 1);
  EXPECT_GT(events.half_open_refused, 0U);
  EXPECT_EQ(static_cast<std::uint64_t>(flooded.accepted) + events.half_open_refused, kFlood);
  EXPECT_EQ(flooded.established, 0);
  EXPECT_EQ(c.stream().acked_bytes(), 100'000U);
  EXPECT_EQ(server.closed, 0);
  Pair::expect_balanced(p.b);
}

TEST(Host, TimersFireInOrderAndAtTheirTime) {
  Pair p;
  App app;
  p.a.set_timer(app, 1, Time{30us});
  p.a.set_timer(app, 2, Time{10us});
  p.a.set_timer(app, 3, Time{10us});
  p.run(1ms);
  EXPECT_EQ(app.timers, (std::vector<std::pair<std::uint32_t, Time>>{
                            {2, Time{10us}}, {3, Time{10us}}, {1, Time{30us}}}));
}

// Without buffers a host waits and goes on; it never loses what it wants to say.
TEST(Host, RunsOutOfBuffersAndRecovers) {
  Pair p;
  std::vector<Packet*> taken;
  while (Packet* packet = rte_pktmbuf_alloc(&p.pool.get())) taken.push_back(packet);
  p.a.send_start(TosStart{Pair::flow(), 1, 10}, Time{});
  p.run(95us);
  EXPECT_TRUE(p.to_b.seen.empty());
  EXPECT_GT(p.a.counters().mbuf_exhausted, 5U) << "tries every 10 us";
  for (auto* packet : taken) release(packet);
  p.run(1ms);
  EXPECT_EQ(p.to_b.seen.size(), 1U);
  EXPECT_EQ(p.to_a.seen.size(), 1U);
}

// A busy device stops the NIC; the host loses nothing and goes on once it is ready.
TEST(Host, WaitsWhileItsDeviceIsFull) {
  Pair p;
  Backpressure device{.full = true};
  p.a.nic().connect(p.wire_to_b, &device);
  p.a.send_start(TosStart{Pair::flow(), 1, 10}, Time{});
  p.run(95us);
  EXPECT_TRUE(p.to_b.seen.empty());
  EXPECT_GT(p.a.counters().device_full_waits, 5U) << "tries every 10 us";
  device.full = false;
  p.run(1ms);
  EXPECT_EQ(p.to_b.seen.size(), 1U);
  EXPECT_EQ(p.to_a.seen.size(), 1U);
}

TEST(Host, SourcePortsAreHandedOutInTurn) {
  Pair p;
  EXPECT_EQ(p.a.ports().next(), 32768);
  EXPECT_EQ(p.a.ports().next(), 32769);
  for (int i = 32770; i <= 65535; ++i) EXPECT_EQ(p.a.ports().next(), i);
  EXPECT_EQ(p.a.ports().next(), 32768) << "never below the ephemeral range";
}

}  // namespace
}  // namespace outrider::host_test
