// Packet-hops per second of the virtual runtime: one packet through one switch
// is a hop; both hosts' TCP is included. Rates are per second of CPU time, so a
// shared machine disturbs them less; the ratio to another program measured in the
// same minute is what to quote.
#include <benchmark/benchmark.h>

#include "common/dpdk/mempool.h"
#include "tests/support/dumbbell.h"
#include "tests/support/test_eal.h"
#include "tools/lab/world/virtual_world.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

rte_mempool* packets = nullptr;  // owned by main(): it must not outlive the EAL

constexpr BitRate kRate{10'000'000'000};
constexpr Duration kRoundTrip = 100us;

/// Long flows alone between many hosts, over two switches.
Dumbbell two_switches(std::uint32_t flows) {
  Dumbbell d;
  d.bottleneck = d.host_rate = kRate;
  d.rtt = kRoundTrip;
  d.bottleneck_port.queue.limit_packets = 2000;
  d.bottleneck_port.marker.threshold_packets = 65;
  d.background_flows = flows;
  d.job.first_due = 1h;  // never within the benchmark
  return d;
}

/// Rate of hops past the slow starts.
void measure_hops(benchmark::State& state, const sw::SwitchProcessConfig& switches,
                  const tg::GeneratorConfig& traffic) {
  lab::VirtualWorld world(switches, traffic, *packets);
  world.run_until(Time{150ms});
  const std::uint64_t before = world.result().switches.received;
  for (auto _ : state) world.run_until(world.now() + 10ms);
  const std::uint64_t hops = world.result().switches.received - before;
  state.counters["hops"] =
      benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
}

void virtual_hops(benchmark::State& state) {
  const Dumbbell d = two_switches(static_cast<std::uint32_t>(state.range(0)));
  measure_hops(state, d.switches(), d.traffic());
}
BENCHMARK(virtual_hops)
    ->ArgName("flows")
    ->Arg(2)
    ->Arg(100)
    ->MinTime(2)
    ->Unit(benchmark::kMillisecond);

/// Two senders and a receiver around one switch: the scenario that ns-3 is compared on.
struct Incast {
  sw::SwitchProcessConfig switches;
  tg::GeneratorConfig traffic;
};

Incast incast(std::uint32_t flows_per_sender) {
  Incast c;
  sw::SwitchConfig sw;
  sw.name = "tor";
  tg::LongFlowsConfig flows;
  flows.name = "bulk";
  flows.transport = "dctcp";
  flows.flows_per_pair = flows_per_sender;
  for (const char* name : {"a", "b", "sink"}) {
    const auto n = static_cast<std::uint32_t>(sw.ports.size());
    const std::string address = "10.0.0." + std::to_string(n + 1);
    sw::SwitchPortConfig port;
    port.name = name;
    port.drain_rate = kRate;
    port.delay = kRoundTrip / 4;
    port.device = name;
    port.queue.limit_packets = 1000 + 10 * flows_per_sender;
    port.marker.threshold_packets = 65;
    sw.ports.push_back(port);
    sw.routes.push_back({address + "/32", name});
    const std::string device = "net_null" + std::to_string(n);
    c.switches.devices.push_back({.name = name, .device = device});
    c.traffic.devices.push_back({.name = name, .device = device});
    c.traffic.hosts.push_back({.name = name, .address = address, .device = name, .rate = kRate});
    if (n == 2) break;
    flows.from.emplace_back(name);
    flows.to.emplace_back("sink");
  }
  c.switches.switches = {sw};
  tg::TcpConfig tcp;
  tcp.control.controller = tg::Controller::kDctcp;
  c.traffic.transports = {{"dctcp", tcp}};
  c.traffic.long_flows = {flows};
  return c;
}

/// The whole scenario: make the world, 50 ms of it, throw it away.
void two_senders_50ms(benchmark::State& state) {
  const Incast c = incast(1);
  std::uint64_t hops = 0;
  for (auto _ : state) {
    lab::VirtualWorld world(c.switches, c.traffic, *packets);
    world.run_until(Time{50ms});
    hops = world.result().switches.received;
    world.flush();
  }
  state.counters["hops"] = static_cast<double>(hops);
}
BENCHMARK(two_senders_50ms)->MinTime(2)->Unit(benchmark::kMillisecond);

/// The same once, so that tools/check-instructions knows how many hops it counts.
void counted_hops(benchmark::State& state) { two_senders_50ms(state); }
BENCHMARK(counted_hops)->Iterations(1)->Unit(benchmark::kMillisecond);

/// What a hop costs when many flows share the queue.
void incast_hops(benchmark::State& state) {
  const Incast c = incast(static_cast<std::uint32_t>(state.range(0)) / 2);
  measure_hops(state, c.switches, c.traffic);
}
BENCHMARK(incast_hops)
    ->ArgName("flows")
    ->Arg(2)
    ->Arg(1000)
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
