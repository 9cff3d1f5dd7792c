// Goal: in our queues, long flows behave as the theory of their controllers predicts.
// Method: a bottleneck of 200 Mbit/s and an RTT of 3.5 ms, so 57 packets fit on the wire.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulation.h"

namespace outrider::tcp_dynamics_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using std::chrono::seconds;

constexpr double kPacket_s = 1538 * 8 / 200e6;  // full frame with L1 overhead

/// Returns `flows` long flows and no burst before the end of the run.
Dumbbell long_flows(std::uint32_t flows, Controller controller) {
  Dumbbell d;
  d.background_flows = flows;
  d.background_tcp.control.controller = controller;
  d.job.iterations = 1;
  d.job.burst_bytes = 1000;
  d.job.first_due = seconds(1000);
  d.job.announce.lead_source = LeadSource::kNone;
  return d;
}

struct Swing {
  double low = 0, high = 0, mean = 0;  ///< [packets]
};

/// Returns the 1st and 99th percentile of the occupancy's maxima in bins of 3 packet times.
Swing swing_of(const Dumbbell& d, rte_mempool& pool) {
  SwitchProcessConfig switches = d.switches();
  switches.bin = std::chrono::microseconds(185);
  Simulation simulation(switches, d.traffic(), pool);
  simulation.run_until(Time{} + seconds(5));
  const RunResult r = simulation.result();
  const QueueReport& q = bottleneck_of(r);
  EXPECT_EQ(sum(q.drops), 0U);
  std::vector<std::uint32_t> maxima;
  for (std::size_t i = q.bins.size() * 2 / 5; i < q.bins.size(); ++i)
    if (q.bins[i].max_packets > 0) maxima.push_back(q.bins[i].max_packets);
  std::ranges::sort(maxima);
  return {static_cast<double>(maxima[maxima.size() / 100]),
          static_cast<double>(maxima[maxima.size() * 99 / 100]), mean(maxima)};
}

// Alizadeh et al., SIGCOMM 2010, section 3.3: for N synchronised flows the queue
// peaks at K + N and swings by A = sqrt(2 N (C RTT + K)) / 2. Our receivers acknowledge
// every segment here, as in the model. Flows are not quite synchronised, so the swing may
// be smaller than A but never much larger.
TEST(TcpDynamics, DctcpHoldsTheQueueNearItsThreshold) {
  const Mempool pool = make_test_pool();
  const double wire_packets = 3.5e-3 / kPacket_s;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    Dumbbell d = long_flows(n, Controller::kDctcp);
    d.background_tcp.ack_every_segments = 1;
    d.bottleneck_port.queue.limit_packets = 500;
    const Swing s = swing_of(d, *pool);
    const double amplitude = 0.5 * std::sqrt(2 * n * (wire_packets + 40));
    EXPECT_NEAR(s.high, 40 + n, 1.5) << n;
    EXPECT_GT(s.low, 40 + n - 1.5 * amplitude - 2) << n;
    EXPECT_LT(s.low, 40 + n - 0.25 * amplitude) << n << ": it does swing";
    EXPECT_NEAR(s.mean, 40 + n - amplitude / 2, 0.4 * amplitude + 2) << n;
    RecordProperty("flows_" + std::to_string(n),
                   std::to_string(s.low) + " " + std::to_string(s.high) + " mean " +
                       std::to_string(s.mean) + " A " + std::to_string(amplitude));
  }
}

// The queue follows changes of K.
TEST(TcpDynamics, DctcpFollowsTheThreshold) {
  const Mempool pool = make_test_pool();
  double before = 0;
  for (const std::uint32_t k : {20U, 40U, 80U}) {
    Dumbbell d = long_flows(2, Controller::kDctcp);
    d.bottleneck_port.queue.limit_packets = 500;
    d.bottleneck_port.marker.threshold_packets = k;
    const Swing s = swing_of(d, *pool);
    EXPECT_GT(s.mean, before + 10);
    EXPECT_NEAR(s.high, k + 2, 4);
    before = s.mean;
  }
}

// Reno halves its window and grows by one segment per round trip. With 57 packets on the
// wire, 60 in the queue and one in service, the window moves between 59 and 118. A tooth
// takes 59 round trips of 3.5 ms plus a half full queue, and two more for the recovery.
TEST(TcpDynamics, RenoDrawsItsSawTooth) {
  const Mempool pool = make_test_pool();
  Dumbbell d = long_flows(1, Controller::kReno);
  d.background_tcp.ecn = false;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  Simulation simulation(d.switches(), d.traffic(), *pool);
  simulation.run_until(Time{} + seconds(5));
  const FlowReport before = simulation.result().traffic.flows.back();
  simulation.run_until(Time{} + seconds(15));
  const FlowReport after = simulation.result().traffic.flows.back();
  const double teeth = static_cast<double>(after.fast_recoveries - before.fast_recoveries);
  const double tooth_s = 59 * (3.5e-3 + 30 * kPacket_s) + 2 * (3.5e-3 + 60 * kPacket_s);
  EXPECT_NEAR(10 / teeth, tooth_s, 0.1 * tooth_s);
  EXPECT_EQ(after.rtos_data, before.rtos_data);
  const double goodput =
      static_cast<double>(after.delivered_bytes - before.delivered_bytes) * 8 / 10;
  EXPECT_GT(goodput, 0.99 * 200e6 * 1460 / 1538) << "a queue as long as the wire keeps it busy";
}

/// Returns the occupancy at the end of each of `bins` bins.
std::vector<double> queue_series(const Dumbbell& d, Duration bin, std::size_t bins,
                                 rte_mempool& pool) {
  SwitchProcessConfig switches = d.switches();
  switches.bin = bin;
  Simulation simulation(switches, d.traffic(), pool);
  simulation.run_until(Time{} + bin * static_cast<std::int64_t>(bins));
  const RunResult result = simulation.result();
  std::vector<double> series;
  for (const auto& b : bottleneck_of(result).bins) series.push_back(b.max_packets);
  return series;
}

// RFC 9438, 4.2: W(t) = C (t - K)^3 + W_max. A queue that never runs empty shows the window
// minus the packets on the wire (20 Mbit/s, 100 ms: 163 packets; the round trip is long
// enough for Reno to stay behind, 4.3). Up to W_max the growth slows down (4.4). If fast
// convergence (4.7) has set W_max below the path's capacity, it speeds up beyond (4.5).
// Proportional rate reduction spreads a reduction over the round trip, so that marks find the
// window lower, not the queue empty and full in turn. It is what Linux does about marks.
TEST(TcpDynamics, ProportionalRateReductionKeepsLessInTheQueue) {
  const Mempool pool = make_test_pool();
  const auto mean_with = [&](WindowReduction reduction) {
    Dumbbell d = long_flows(3, Controller::kCubic);
    d.background_tcp.reduction = reduction;
    d.bottleneck_port.queue.limit_packets = 500;
    return swing_of(d, *pool).mean;
  };
  EXPECT_LT(mean_with(WindowReduction::kPrr), mean_with(WindowReduction::kAtOnce) - 2);
}

// Classic HyStart ends slow start when round trips lengthen. Without it the window doubles until a
// full queue drops its last doubling.
TEST(TcpDynamics, ClassicHyStartEndsSlowStartBeforeTheQueueIsFull) {
  const Mempool pool = make_test_pool();
  const auto drops_with = [&](HyStartKind hystart) {
    Dumbbell d = long_flows(1, Controller::kCubic);
    d.bottleneck = BitRate{20'000'000};
    d.rtt = std::chrono::milliseconds(100);
    d.background_tcp.ecn = false;
    d.background_tcp.control.hystart = hystart;
    d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
    d.bottleneck_port.queue.limit_packets = 200;
    Simulation simulation(d.switches(), d.traffic(), *pool);
    simulation.run_until(Time{} + seconds(3));
    return sum(bottleneck_of(simulation.result()).drops);
  };
  const std::uint64_t without = drops_with(HyStartKind::kOff);
  EXPECT_GT(without, 100U);
  EXPECT_LT(drops_with(HyStartKind::kLinux), without / 4);
}

TEST(TcpDynamics, CubicGrowsConcaveThenConvex) {
  const Mempool pool = make_test_pool();
  Dumbbell d = long_flows(1, Controller::kCubic);
  d.bottleneck = BitRate{20'000'000};
  d.rtt = std::chrono::milliseconds(100);
  d.background_tcp.ecn = false;
  d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  d.bottleneck_port.queue.limit_packets = 200;
  const auto q = queue_series(d, std::chrono::milliseconds(250), 1200, *pool);
  int concave = 0, convex = 0;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < q.size(); ++i) {
    if (q[i] > 0.85 * q[i - 1]) continue;  // a loss ends a tooth
    // Leave out two bins on either side: the recovery and the loss itself.
    const std::size_t from = begin + 2, third = (i - 4 - begin) / 3;
    if (begin != 0 && i > begin + 16 && q[from] > 10) {
      const double first = q[from + third] - q[from];
      const double second = q[from + 2 * third] - q[from + third];
      const double last = q[from + 3 * third] - q[from + 2 * third];
      if (first > 1.5 * second) ++concave;
      if (first > 1.5 * second && last > 1.5 * second) ++convex;
    }
    begin = i;
  }
  EXPECT_GE(concave, 5);
  EXPECT_GE(convex, 1);
}

// HyStart++ (RFC 9406) leaves slow start before the queue overflows. Without it the overflow
// loses dozens of packets. It notices the queue at a window of about 180 packets. Five rounds
// of growth by a quarter make this 550 packets, which fit in 57 on the wire and a queue of 700.
TEST(TcpDynamics, HystartSparesTheFirstOverflow) {
  const Mempool pool = make_test_pool();
  std::uint64_t dropped[2];
  for (const bool hystart : {false, true}) {
    Dumbbell d = long_flows(1, Controller::kCubic);
    d.background_tcp.ecn = false;
    d.background_tcp.control.hystart = hystart ? HyStartKind::kRfc9406 : HyStartKind::kOff;
    d.background_tcp.control.hystart_min_rtt_threshold = std::chrono::microseconds(400);
    d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
    d.bottleneck_port.queue.limit_packets = 700;
    Simulation simulation(d.switches(), d.traffic(), *pool);
    simulation.run_until(Time{} + std::chrono::milliseconds(300));
    dropped[hystart ? 1 : 0] = sum(bottleneck_of(simulation.result()).drops);
  }
  EXPECT_GT(dropped[0], 50U);
  EXPECT_EQ(dropped[1], 0U);
}

TEST(TcpDynamics, EqualFlowsShareFairly) {
  const Mempool pool = make_test_pool();
  for (const auto controller : {Controller::kReno, Controller::kCubic, Controller::kDctcp}) {
    const std::uint32_t n = seeds(3, 20);
    double mean_index = 0;
    for (std::uint64_t seed = 1; seed <= n; ++seed) {
      Dumbbell d = long_flows(2, controller);
      d.seed = seed;
      if (controller != Controller::kDctcp) {
        d.background_tcp.ecn = false;
        d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
      }
      Simulation simulation(d.switches(), d.traffic(), *pool);
      simulation.run_until(Time{} + seconds(3));
      const auto before = simulation.result().traffic.flows;
      simulation.run_until(Time{} + seconds(13));
      const auto after = simulation.result().traffic.flows;
      double total = 0, squares = 0;
      for (std::size_t i = 1; i <= 2; ++i) {  // connection 0 is the job's
        const auto bytes =
            static_cast<double>(after[i].delivered_bytes - before[i].delivered_bytes);
        total += bytes;
        squares += bytes * bytes;
      }
      const double jain = total * total / (2 * squares);
      mean_index += jain / n;
      EXPECT_GT(jain, 0.90) << "seed " << seed;
      EXPECT_GT(total * 8 / 10, 0.97 * 200e6 * 1460 / 1538);
    }
    EXPECT_GT(mean_index, 0.95) << "Jain's index";
  }
}

}  // namespace
}  // namespace outrider::tcp_dynamics_test
