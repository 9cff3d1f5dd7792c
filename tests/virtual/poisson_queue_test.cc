// Goal: the egress port is a queue with one server of constant service time: Poisson
// arrivals find the occupancy and wait of M/D/1. Method: packets are given directly to a
// switch at instants of a Poisson process.
#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <deque>

#include "switch/runtime/switch.h"
#include "tests/support/simulation.h"
#include "trafficgen/frames/frame.h"

namespace outrider::poisson_queue_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

constexpr std::uint32_t kFrameBytes = 976;  // 1000 on the wire: 8 us at 1 Gbit/s
constexpr Duration kService = std::chrono::microseconds(8);

class Sink final : public Node {
 public:
  void receive(std::uint32_t, Packet* packet, Time now) noexcept override {
    release(packet);
    wait_s += seconds(now - kService - sent.front());
    sent.pop_front();
    ++received;
  }
  std::deque<Time> sent;
  double wait_s = 0;
  std::uint64_t received = 0;
};

struct Measured {
  double occupancy = 0;  ///< mean number of waiting packets that an arrival finds
  double wait_s = 0;     ///< mean
};

Measured feed(double load, std::uint32_t packets, std::uint64_t seed, rte_mempool& pool) {
  SwitchPortConfig port;
  port.name = "out";
  port.drain_rate = BitRate{1'000'000'000};
  port.device = "device";
  port.queue.limit_packets = 4096;
  port.marker.kind = MarkerKind::kTailDrop;
  SwitchConfig config;
  config.name = "sw";
  config.ports = {port};
  config.routes = {{"0.0.0.0/0", "out"}};
  EventLoop loop;
  Switch sw(config, loop, {});
  Sink sink;
  Link wire(loop, Duration::zero(), sink, 0);
  sw.port(0).transmitter().output().connect(wire);

  RandomStream arrivals(seed, 0, RandomPurpose::kTest);
  TcpSegment segment;
  segment.payload_bytes = kFrameBytes - 54;
  double at_s = 0, occupancy = 0;
  for (std::uint32_t i = 0; i < packets; ++i) {
    at_s += arrivals.exponential(seconds(kService) / load);
    const Time now = Time{} + from_seconds(at_s);
    loop.run_until(now);
    occupancy += sw.port(0).queues()[0].fifo().occupancy_packets();
    Packet* packet = rte_pktmbuf_alloc(&pool);
    write_frame(*packet, {1, 2, 3, 4}, 0, segment, false);
    sink.sent.push_back(now);
    sw.receive(0, packet, now);
  }
  loop.run_until(kNever - Duration{1});
  EXPECT_EQ(sink.received, packets);
  return {occupancy / packets, sink.wait_s / packets};
}

TEST(PoissonQueue, MatchesMD1) {
  const Mempool pool = make_test_pool();
  struct Row {
    double load;
    double margin;  ///< 3 standard errors of 300,000 arrivals, by trial over 30 seeds
  };
  for (const Row row : {Row{0.5, 0.02}, {0.8, 0.05}, {0.9, 0.10}}) {
    Measured mean;
    const std::uint32_t n = seeds(3, 30);
    for (std::uint64_t seed = 1; seed <= n; ++seed) {
      const Measured m = feed(row.load, 100'000, seed, *pool);
      mean.occupancy += m.occupancy / n;
      mean.wait_s += m.wait_s / n;
    }
    // Pollaczek-Khinchine formula with constant service time.
    const double wait_s = row.load * seconds(kService) / (2 * (1 - row.load));
    const double occupancy = row.load * row.load / (2 * (1 - row.load));
    EXPECT_NEAR(mean.wait_s / wait_s, 1, row.margin) << "load " << row.load;
    EXPECT_NEAR(mean.occupancy / occupancy, 1, row.margin) << "load " << row.load;
    RecordProperty(
        "load_" + std::to_string(int(row.load * 100)),
        std::to_string(mean.wait_s / wait_s) + " " + std::to_string(mean.occupancy / occupancy));
  }
  EXPECT_EQ(rte_mempool_in_use_count(pool.get()), 0U);
}

}  // namespace
}  // namespace outrider::poisson_queue_test
