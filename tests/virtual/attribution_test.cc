// Goal: the communication time of every burst is split without a remainder, and
// each part has the value that its name promises.
#include <gtest/gtest.h>

#include "tests/support/simulation.h"
#include "tests/virtual/job_scene.h"
#include "tools/lab/simulation/simulation.h"

namespace outrider::attribution_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void expect_exact(const RunResult& r) {
  ASSERT_FALSE(r.traffic.bursts.empty());
  for (const auto& b : r.traffic.bursts) {
    ASSERT_NE(b.delivered_ns, kNotYet_ns);
    ASSERT_TRUE(b.times) << b.identity.worker << " " << b.identity.iteration;
    EXPECT_EQ(b.times->sum(), b.delivered_ns - b.due_ns);
    for (std::size_t i = 0; i < kBurstTimes; ++i)
      EXPECT_GE(b.times->ns[i], 0) << kBurstTimeNames[i];
  }
}

RunResult run_attributed(const Dumbbell& d, rte_mempool& pool) {
  GeneratorConfig traffic = d.traffic();
  traffic.attribution = true;
  return run(d.switches(), traffic, pool, Time{seconds(60)});
}

TEST(Attribution, SumsToTheCommunicationTime) {
  const Mempool pool = make_test_pool();
  const RunResult r = run_attributed(Dumbbell{}, *pool);
  expect_exact(r);
  for (const auto& b : r.traffic.bursts) {
    EXPECT_EQ((*b.times)[BurstTime::kSignal], b.released_ns - b.due_ns);
    EXPECT_GT((*b.times)[BurstTime::kBehindBackground], 0);
    EXPECT_EQ((*b.times)[BurstTime::kBehindDdl], 0) << "there is no other worker";
  }
}

std::int64_t total(const RunResult& r, BurstTime what) {
  std::int64_t sum = 0;
  for (const auto& b : r.traffic.bursts) sum += b.times ? (*b.times)[what] : 0;
  return sum;
}

// Metamorphic: without competitors no time is attributed to them.
TEST(Attribution, AloneWaitsForNobody) {
  const Mempool pool = make_test_pool();
  Dumbbell d;
  d.background_flows = 0;
  const RunResult r = run_attributed(d, *pool);
  expect_exact(r);
  EXPECT_EQ(total(r, BurstTime::kBehindBackground), 0);
  EXPECT_EQ(total(r, BurstTime::kBehindDdl), 0);
  EXPECT_GT(total(r, BurstTime::kSerialisation), 0);
}

TEST(Attribution, WorkersWaitBehindEachOther) {
  const Mempool pool = make_test_pool();
  Dumbbell d;
  d.background_flows = 0;
  d.workers = 4;
  const RunResult r = run_attributed(d, *pool);
  expect_exact(r);
  EXPECT_EQ(r.traffic.bursts.size(), 12U);
  EXPECT_EQ(total(r, BurstTime::kBehindBackground), 0);
  EXPECT_GT(total(r, BurstTime::kBehindDdl), 0);
}

// A short queue drops packets, which are sent again, some of them after a time-out.
TEST(Attribution, LossesAreRecoveryOrTimeouts) {
  const Mempool pool = make_test_pool();
  Dumbbell d;
  d.workers = 8;
  d.background_flows = 0;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.bottleneck_port.queue.limit_packets = 12;
  d.ddl_tcp.control.controller = Controller::kReno;
  d.ddl_tcp.ecn = false;
  d.job.iterations = 6;
  const RunResult r = run_attributed(d, *pool);
  expect_exact(r);
  std::uint32_t retransmitted = 0, rtos = 0;
  for (const auto& b : r.traffic.bursts) {
    retransmitted += b.retransmitted;
    rtos += b.rtos;
    if (b.retransmitted == 0) {
      EXPECT_EQ((*b.times)[BurstTime::kRecovery] + (*b.times)[BurstTime::kRto], 0);
    }
  }
  EXPECT_GT(retransmitted, 0U);
  EXPECT_GT(rtos, 0U);
  EXPECT_GT(total(r, BurstTime::kRecovery), 0);
  EXPECT_GT(total(r, BurstTime::kRto), 0);
}

// Closed loop, both directions: the server's answer is a burst of its own.
TEST(Attribution, CoversThePull) {
  const Mempool pool = make_test_pool();
  Dumbbell d;
  d.workers = 2;
  d.job.pull = true;
  d.job.schedule = Schedule::kClosedLoop;
  d.job.first_due = {};
  d.job.period = {};
  d.job.compute = milliseconds(50);
  const RunResult r = run_attributed(d, *pool);
  expect_exact(r);
  std::size_t pulls = 0;
  for (const auto& b : r.traffic.bursts) pulls += b.identity.direction == BurstDirection::kPull;
  EXPECT_EQ(pulls, 6U);
}

// A burst of one segment finds n packets of a stream at the bottleneck, which arrived 10 us
// before it. Every part is computed by hand.
TEST(Attribution, IsWhatArithmeticSaysBehindNPackets) {
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  Dumbbell d;
  d.background_flows = 0;
  d.job.burst_bytes = 1000;
  d.job.announce.lead_source = LeadSource::kNone;
  // 1000 bytes, 66 of headers with the identity, 24 of layer 1; 1 Gbit/s at both ends,
  // 200 Mbit/s between; the path takes half the round trip.
  const auto edge = nanoseconds(1090 * 8);
  const auto on_the_wire = edge + 5 * edge + edge + d.rtt / 2;
  const auto packet = nanoseconds((1514 + 24) * 8 * 5);
  const auto ahead = microseconds(10);
  const auto due = d.job.first_due + d.job.period;  // iteration 1 has no handshake
  for (const std::uint64_t n : {0U, 1U, 5U, 20U}) {
    SwitchProcessConfig switches = d.switches();
    GeneratorConfig traffic = d.traffic();
    traffic.attribution = true;
    traffic.send_jitter = 0;
    const auto add_port = [](SwitchConfig& sw, const char* name, const char* address) {
      sw.ports.push_back({.name = name, .drain_rate = BitRate{1'000'000'000}, .device = sw.name});
      sw.routes.push_back({address, name});
    };
    if (n != 0) {
      add_port(switches.switches[0], "generator", "10.0.9.1/32");
      add_port(switches.switches[1], "sink", "10.0.9.2/32");
      StreamConfig s;
      s.name = "ahead";
      s.device = "left";
      s.rate = StreamRate{StreamRate::Unit::kPackets, 1'000'000'000};
      s.frame_bytes = 1518;
      s.source = "10.0.9.1";
      s.destination = "10.0.9.2";
      s.start = due + edge + d.rtt / 8 - ahead;
      s.packets = n;
      traffic.streams = {s};
    }
    const Mempool pool = make_test_pool();
    Simulation simulation(switches, traffic, *pool);
    simulation.run_until(Time{seconds(6)});
    const RunResult r = simulation.result();
    simulation.flush();
    ASSERT_EQ(r.traffic.bursts.size(), 3U);
    const BurstRecord& b = r.traffic.bursts[1];
    ASSERT_TRUE(b.times);
    BurstTimes expected;
    expected[BurstTime::kSerialisation] = on_the_wire.count();
    if (n != 0)
      expected[BurstTime::kBehindBackground] =
          (static_cast<std::int64_t>(n) * packet - nanoseconds(ahead)).count();
    for (std::size_t i = 0; i < kBurstTimes; ++i)
      EXPECT_EQ(b.times->ns[i], expected.ns[i]) << n << " packets: " << kBurstTimeNames[i];
    EXPECT_EQ(b.delivered_ns - b.due_ns, expected.sum());
  }
}

}  // namespace
}  // namespace outrider::attribution_test
