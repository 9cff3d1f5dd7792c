// Goal: a receiver that reads slowly limits its sender to that rate, with a short queue at the
// bottleneck and no loss. If the network is slower than the reader, nothing changes.
#include <gtest/gtest.h>

#include "tests/support/simulation.h"

namespace outrider::tcp_read_rate_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

struct Seen {
  double goodput_bps = 0;
  FlowReport flow;
  std::uint32_t max_queue_packets = 0;
  TcpEvents events;
};

Seen long_flow(BitRate read_rate, std::uint32_t buffer_bytes, rte_mempool& pool) {
  Dumbbell d;
  d.background_flows = 1;
  d.background_tcp.control.controller = Controller::kCubic;
  d.background_tcp.read_rate = read_rate;
  d.background_tcp.receive_buffer_bytes = buffer_bytes;
  d.job.iterations = 1;
  d.job.burst_bytes = 1000;
  d.job.first_due = std::chrono::seconds(1000);
  d.job.announce.lead_source = LeadSource::kNone;
  Simulation simulation(d.switches(), d.traffic(), pool);
  simulation.run_until(Time{std::chrono::seconds(2)});
  const RunResult before = simulation.result();
  simulation.run_until(Time{std::chrono::seconds(6)});
  const RunResult after = simulation.result();
  Seen seen;
  seen.flow = after.traffic.flows.back();
  seen.goodput_bps =
      static_cast<double>(seen.flow.delivered_bytes - before.traffic.flows.back().delivered_bytes) *
      8 / 4;
  const QueueReport& q = bottleneck_of(after);
  for (std::size_t i = q.bins.size() / 2; i < q.bins.size(); ++i)
    seen.max_queue_packets = std::max(seen.max_queue_packets, q.bins[i].max_packets);
  seen.events = after.traffic.tcp_events;
  return seen;
}

TEST(TcpReadRate, ASlowReaderHoldsItsSender) {
  const Mempool pool = make_test_pool();
  const Seen seen = long_flow(BitRate{50'000'000}, 200'000, *pool);
  EXPECT_NEAR(seen.goodput_bps, 50e6, 0.005 * 50e6);
  EXPECT_EQ(seen.flow.retransmitted, 0U);
  EXPECT_EQ(seen.flow.rtos_data, 0U);
  EXPECT_LT(seen.max_queue_packets, 15U) << "an update releases a few segments, not a window";
  EXPECT_EQ(seen.events.invalid(), 0U);
}

TEST(TcpReadRate, AFastReaderChangesNothing) {
  const Mempool pool = make_test_pool();
  const Seen seen = long_flow(BitRate{1'000'000'000}, 4U << 20, *pool);
  EXPECT_GT(seen.goodput_bps, 0.99 * 200e6 * 1460 / 1538);
}

}  // namespace
}  // namespace outrider::tcp_read_rate_test
