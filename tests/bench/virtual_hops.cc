// Packet-hops per second of the virtual runtime: one packet through one switch
// is a hop; both hosts' TCP is included. Rates are per second of CPU time, so a
// shared machine disturbs them less; the ratio to another program measured in the
// same minute is what to quote.
#include <benchmark/benchmark.h>

#include "common/dpdk/mempool.h"
#include "tests/support/dumbbell.h"
#include "tests/support/test_eal.h"
#include "tools/lab/virtual_world.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

rte_mempool* packets = nullptr;  // owned by main(): it must not outlive the EAL

/// Long flows alone at 10 Gbit/s and 100 us, step marking at 65 packets.
Dumbbell long_flows(std::uint32_t flows) {
  Dumbbell d;
  d.bottleneck = d.host_rate = {10'000'000'000};
  d.rtt = 100us;
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.threshold_packets = 65;
  d.background_flows = flows;
  d.job.first_due = 1h;  // never within the benchmark
  return d;
}

void virtual_hops(benchmark::State& state) {
  const Dumbbell d = long_flows(static_cast<std::uint32_t>(state.range(0)));
  VirtualWorld world(d.switches(), d.traffic(), *packets);
  world.run_until(Time{150ms});  // past the slow starts
  const std::uint64_t before = world.result().switches.received;
  for (auto _ : state) world.run_until(world.now() + 10ms);
  const std::uint64_t hops = world.result().switches.received - before;
  state.counters["hops"] =
      benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
}
BENCHMARK(virtual_hops)
    ->ArgName("flows")
    ->Arg(2)
    ->Arg(100)
    ->MinTime(2)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const outrider::TestEal eal;
  const auto pool = outrider::make_packet_pool(
      {.name = "bench", .mbufs = 65536, .frame_room_bytes = outrider::kHeaderRoomBytes});
  outrider::packets = pool.get();
  benchmark::RunSpecifiedBenchmarks();
}
