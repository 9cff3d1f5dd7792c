// Goal: a host answers for connections that it closed first, for as long as it is told,
// and keeps their ports until then.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "common/core/random.h"
#include "tests/support/frames.h"
#include "tests/support/pool.h"
#include "trafficgen/hosts/host.h"

namespace outrider::host_time_wait_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

/// Loses what a test says.
class Lossy final : public Node {
 public:
  explicit Lossy(Node& to) : to_(to) {}
  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    if (lose && lose(arrival_of(*packet, port, now))) return release(packet);
    to_.receive(port, packet, now);
  }
  std::function<bool(const Arrival&)> lose;

 private:
  Node& to_;
};

class App final : public Acceptor, public ConnectionListener {
 public:
  Offer accept(const FlowKey&) noexcept override { return {&config, this, 0}; }
  void on_accepted(TcpConnection& c) noexcept override { connection = &c; }
  void on_established(TcpConnection&, Time) noexcept override { ++established; }
  void on_delivered(TcpConnection&, Time) noexcept override {}
  void on_closed(TcpConnection& c, Time) noexcept override {
    ++closed;
    resets += c.state() == ConnectionState::kReset ? 1 : 0;
    connection = nullptr;
  }
  TcpConfig config;
  TcpConnection* connection = nullptr;
  int established = 0, closed = 0, resets = 0;
};

struct Pair {
  Pair() {
    a.nic().connect(wire_to_b);
    b.nic().connect(wire_to_a);
    b.connections().listen(5000, server);
  }
  ~Pair() {
    wire_to_a.flush();
    wire_to_b.flush();
  }
  static FlowKey flow() { return {ip("10.0.1.1"), ip("10.0.3.1"), 40'000, 5000}; }
  void open(Time now) { client.connection = &a.open(flow(), client.config, 0, client, now); }
  void run(Duration to) { loop.run_until(Time{to}); }

  TestPool pool;
  EventLoop loop;
  TransportMemory memory{TransportMemory::Setup{}};
  Host a{
      {.name = "a", .address = ip("10.0.1.1"), .rate = {1'000'000'000}}, loop, pool.get(), memory};
  Host b{
      {.name = "b", .address = ip("10.0.3.1"), .rate = {1'000'000'000}}, loop, pool.get(), memory};
  Lossy to_a{a}, to_b{b};
  Link wire_to_b{loop, 10us, to_b, 0}, wire_to_a{loop, 10us, to_a, 0};
  App client, server;
};

/// The client closes first, the server half a millisecond later, and the client's last
/// ACK is lost. @return what a lost ACK makes of the server's connection
int resets_after_a_lost_last_ack(Duration time_wait, Pair& p) {
  p.client.config.time_wait = time_wait;
  p.open(Time{});
  p.run(1ms);
  p.a.close(*p.client.connection, Time{1ms});
  p.run(2ms);
  bool lost = false;
  p.to_b.lose = [&lost](const Arrival&) { return !std::exchange(lost, true); };
  p.b.close(*p.server.connection, Time{2ms});
  p.run(900ms);
  EXPECT_TRUE(lost);
  EXPECT_EQ(p.client.closed, 1);
  EXPECT_EQ(p.client.resets, 0);
  EXPECT_EQ(p.server.closed, 1);
  return p.server.resets;
}

TEST(HostTimeWait, AcknowledgesAFinThatComesAgain) {
  Pair p;
  EXPECT_EQ(resets_after_a_lost_last_ack(1s, p), 0);
  EXPECT_EQ(p.memory.events.time_waits, 1U);
  EXPECT_EQ(p.memory.events.time_wait_answers, 1U);
  EXPECT_EQ(p.a.counters().resets_sent, 0U);
  const HostCounters& c = p.a.counters();
  EXPECT_EQ(c.received, c.to_connections);
}

// The control: nobody knows the connection any more.
TEST(HostTimeWait, WithoutItTheFinIsReset) {
  Pair p;
  EXPECT_EQ(resets_after_a_lost_last_ack(0s, p), 1);
  EXPECT_EQ(p.memory.events.time_waits, 0U);
  EXPECT_EQ(p.a.counters().resets_sent, 1U);
}

TEST(HostTimeWait, KeepsThePortForSoLong) {
  Pair p;
  p.open(Time{});
  p.run(1ms);
  p.a.close(*p.client.connection, Time{1ms});
  p.b.close(*p.server.connection, Time{1ms + 100us});
  p.run(2ms);
  ASSERT_EQ(p.client.closed, 1);
  const std::uint32_t peer = ip("10.0.3.1");
  const auto offered = [&](Time now) {  // is 40,000 among the next round of ports?
    for (std::uint32_t n = 0; n < 32'768; ++n)
      if (p.a.connections().free_port(p.a.ports(), peer, 5000, now) == 40'000) return true;
    return false;
  };
  EXPECT_FALSE(offered(Time{900ms}));
  EXPECT_TRUE(offered(Time{1002ms}));
}

// The server closed first and waits. The same client's new connection looks like an old
// one (its sequence numbers begin at the same place): it is answered, the client resets
// what it does not know, and its next SYN is welcome.
TEST(HostTimeWait, ANewConnectionGetsThrough) {
  Pair p;
  p.server.config.time_wait = 60s;
  p.open(Time{});
  p.run(1ms);
  p.b.close(*p.server.connection, Time{1ms});
  p.run(2ms);
  p.a.close(*p.client.connection, Time{2ms});
  p.run(3ms);
  ASSERT_EQ(p.memory.events.time_waits, 1U);
  p.open(Time{3ms});
  p.run(1500ms);
  EXPECT_EQ(p.client.established, 2);
  EXPECT_EQ(p.server.established, 2);
  EXPECT_EQ(p.memory.events.time_wait_answers, 1U);
  EXPECT_EQ(p.client.connection->counters().rtos_handshake, 1U);
}

TEST(HostTimeWait, TimestampsLetItThroughAtOnce) {
  Pair p;
  p.client.config.timestamps = p.server.config.timestamps = true;
  p.open(Time{});
  p.run(1ms);
  p.b.close(*p.server.connection, Time{1ms});
  p.run(2ms);
  p.a.close(*p.client.connection, Time{2ms});
  p.run(5ms);
  p.open(Time{5ms});
  p.run(6ms);
  EXPECT_EQ(p.client.established, 2);
  EXPECT_EQ(p.memory.events.time_wait_reuses, 1U);
}

// Against a map of what should be there.
TEST(TimeWaitTable, KeepsEachForItsTimeAndForgetsThemInTheEnd) {
  TcpEvents events;
  TimeWaitTable table(events, 1000);
  std::map<std::uint16_t, Time> model;
  RandomStream random(7, 0, RandomPurpose::kTest);
  Time now{};
  std::uint32_t largest = 0, found = 0, gone = 0;
  const auto key = [](std::uint16_t port) { return FlowKey{1, 2, port, 3}; };
  for (int step = 0; step < 100'000; ++step) {
    now += Duration{random.next_u32() % 2000};
    const auto port = static_cast<std::uint16_t>(random.next_u32() % 700);
    const auto it = model.find(port);
    const bool waits = it != model.end() && it->second > now;
    const TimeWait* old = table.find(key(port), now);
    ASSERT_EQ(old != nullptr, waits);
    (waits ? found : gone) += 1;
    if (waits) {
      ASSERT_EQ(old->expected, port);
    }
    switch (random.next_u32() % 4) {
      case 0:
        table.erase(key(port));
        model.erase(port);
        break;
      case 1:
        if (!waits) break;
        table.restart(key(port), now);
        model[port] = now + 100us;
        break;
      default:
        table.add(key(port), {.expected = port}, 100us, now);
        model[port] = now + 100us;
    }
    largest = std::max(largest, table.size());
  }
  EXPECT_GT(found, 5000U);
  EXPECT_GT(gone, 5000U);
  EXPECT_LT(largest, 400U) << "100 us of 1 us each, and what is not gone yet";
  EXPECT_EQ(events.time_waits_cut, 0U);
}

TEST(TimeWaitTable, TheOldestGoesWhenTooManyWait) {
  TcpEvents events;
  TimeWaitTable table(events, 100);
  for (std::uint16_t port = 0; port < 300; ++port) table.add({1, 2, port, 3}, {}, 1h, Time{});
  EXPECT_EQ(table.size(), 100U);
  EXPECT_EQ(events.time_waits_cut, 200U);
  EXPECT_EQ(table.find({1, 2, 199, 3}, Time{}), nullptr);
  EXPECT_NE(table.find({1, 2, 200, 3}, Time{}), nullptr);
}

}  // namespace
}  // namespace outrider::host_time_wait_test
