// Goal: CNPs that a NIC makes late let pauses act that prompt ones prevent. Method: a message of 50
// MB comes by 100 Gbit/s and leaves by 25 Gbit/s, in virtual time. OUTRIDER_FIGURES=1 prints the
// figures of docs/rxe.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/virtual/roce_scene.h"

namespace outrider::roce_cnp_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

/// The class is lossless.
RunResult message_with(Duration cnp_delay, rte_mempool& pool) {
  Dumbbell d = roce_dumbbell(1, 50'000'000);
  d.background_flows = 0;
  d.host_rate = BitRate{100'000'000'000};
  d.bottleneck = BitRate{25'000'000'000};
  d.bottleneck_port.queue.limit_packets = 4000;
  d.bottleneck_port.marker.red = {.kmin_packets = 100, .kmax_packets = 400, .pmax = 0.2};
  SwitchProcessConfig c = roce_switches(d);
  for (auto& sw : c.switches)
    for (auto& port : sw.ports) {
      port.queue.limit_packets = 4000;
      port.queue.lossless = {
          .xoff_bytes = 1'000'000, .xon_bytes = 500'000, .headroom_bytes = 200'000};
    }
  GeneratorConfig g = roce_traffic(d, {.cnp_delay = cnp_delay});
  g.transports[0].tcp.priority = 3;
  return run(c, g, pool, Time{} + 1s);
}

TEST(RoceCnpDelay, LetsPausesActThatPromptCnpsPrevent) {
  const Mempool pool = make_test_pool(40'000);
  for (const auto& [delay, pauses] : {std::pair{0us, false}, std::pair{55us, true}}) {
    const RunResult r = message_with(delay, *pool);
    ASSERT_TRUE(r.traffic.jobs_finished);
    std::uint32_t most = 0;
    for (const auto& bin : bottleneck_of(r).bins) most = std::max(most, bin.max_packets);
    if (std::getenv("OUTRIDER_FIGURES") != nullptr)
      std::cout << delay.count() << " us: " << r.switches.pause_frames << " pause frames, "
                << r.traffic.paused_ns / 1000 << " us paused, " << r.traffic.roce.cnps_sent
                << " CNPs, at most " << most << " packets\n";
    EXPECT_EQ(r.switches.pause_frames != 0, pauses) << delay.count() << " us";
    EXPECT_EQ(r.traffic.paused_ns != 0, pauses) << delay.count() << " us";
    EXPECT_EQ(r.traffic.roce.retransmitted, 0U);
    EXPECT_GT(r.traffic.roce.cnps_sent, 0U);
    EXPECT_EQ(r.traffic.roce.cnps_received, r.traffic.roce.cnps_sent);
    EXPECT_TRUE(r.traffic.roce.balanced());
    EXPECT_TRUE(r.traffic.ledger_balanced);
  }
}

}  // namespace
}  // namespace outrider::roce_cnp_test
