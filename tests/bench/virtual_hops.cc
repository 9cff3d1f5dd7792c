// Packet-hops per second of the virtual runtime: one packet through one switch
// is a hop; both hosts' TCP is included. Rates are per second of CPU time, so a
// shared machine disturbs them less; the ratio to another program measured in the
// same minute is what to quote.
#include <benchmark/benchmark.h>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/dumbbell.h"
#include "tests/support/test_eal.h"
#include "tools/lab/simulation/simulation.h"

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
  lab::Simulation simulation(switches, traffic, *packets);
  simulation.run_until(Time{150ms});
  const std::uint64_t before = simulation.result().switches.received;
  for (auto _ : state) simulation.run_until(simulation.now() + 10ms);
  const std::uint64_t hops = simulation.result().switches.received - before;
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

/// The whole scenario: make the simulation, 50 ms of it, throw it away.
void two_senders_50ms(benchmark::State& state) {
  const Incast c = incast(1);
  std::uint64_t hops = 0;
  for (auto _ : state) {
    lab::Simulation simulation(c.switches, c.traffic, *packets);
    simulation.run_until(Time{50ms});
    hops = simulation.result().switches.received;
    simulation.flush();
  }
  state.counters["hops"] = static_cast<double>(hops);
}
BENCHMARK(two_senders_50ms)->MinTime(2)->Unit(benchmark::kMillisecond);

/// The same once, so that tools/check-instructions knows how many hops it counts.
void counted_hops(benchmark::State& state) { two_senders_50ms(state); }
BENCHMARK(counted_hops)->Iterations(1)->Unit(benchmark::kMillisecond);

/// Workers that push to every server without end, all around one switch.
struct AllToAll {
  std::uint32_t workers = 2;
  std::uint32_t servers = 1;
  tg::TransportProtocol protocol = tg::TransportProtocol::kTcp;
};

void add_host(Incast& c, const std::string& name, const std::string& address) {
  constexpr auto kDevice = "net_null0";
  sw::SwitchPortConfig port;
  port.name = name;
  port.drain_rate = kRate;
  port.delay = kRoundTrip / 4;
  port.device = "d";
  port.queue.limit_packets = 4000;
  port.marker.threshold_packets = 65;
  c.switches.switches[0].ports.push_back(port);
  c.switches.switches[0].routes.push_back({address + "/32", name});
  c.traffic.hosts.push_back({.name = name, .address = address, .device = "d", .rate = kRate});
  if (!c.traffic.devices.empty()) return;
  c.switches.devices = {{.name = "d", .device = kDevice}};
  c.traffic.devices = {{.name = "d", .device = kDevice}};
}

Incast all_to_all(const AllToAll& a) {
  Incast c;
  c.switches.switches.resize(1);
  c.switches.switches[0].name = "tor";
  tg::JobConfig job;
  job.name = "job";
  job.transport = "ddl";
  job.pull = false;
  job.compute = 1us;
  job.burst_bytes = std::uint64_t{1} << 32;  // more than any of these sends
  job.announce.lead_source = tg::LeadSource::kNone;
  for (std::uint32_t i = 0; i < a.workers; ++i) {
    job.workers.push_back("w" + std::to_string(i));
    add_host(c, job.workers.back(), "10.0.1." + std::to_string(i + 1));
  }
  for (std::uint32_t i = 0; i < a.servers; ++i) {
    job.servers.push_back("s" + std::to_string(i));
    add_host(c, job.servers.back(), "10.0.2." + std::to_string(i + 1));
  }
  tg::TransportConfig ddl{.name = "ddl", .tcp = {}, .protocol = a.protocol};
  if (a.protocol == tg::TransportProtocol::kTcp)
    ddl.tcp.control.controller = tg::Controller::kDctcp;
  ddl.roce.window_packets = 64;
  c.traffic.transports = {ddl};
  c.traffic.jobs = {job};
  return c;
}

/// 50 ms of two workers and a server, once: what tools/check-instructions counts.
void counted_job_hops(benchmark::State& state, tg::TransportProtocol protocol) {
  const Incast c = all_to_all({.protocol = protocol});
  std::uint64_t hops = 0;
  for (auto _ : state) {
    lab::Simulation simulation(c.switches, c.traffic, *packets);
    simulation.run_until(Time{50ms});
    hops = simulation.result().switches.received;
    simulation.flush();
  }
  state.counters["hops"] = static_cast<double>(hops);
}
BENCHMARK_CAPTURE(counted_job_hops, tcp, tg::TransportProtocol::kTcp)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(counted_job_hops, roce, tg::TransportProtocol::kRoce)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Measures a hop with many connections or queue pairs, each between two hosts of its own.
/// Every host sends and receives at its rate, so that hops a second of virtual time grow with the
/// hosts, and connections with their square.
void job_hops(benchmark::State& state, tg::TransportProtocol protocol) {
  const auto hosts = static_cast<std::uint32_t>(state.range(0));
  const Incast c = all_to_all({.workers = hosts, .servers = hosts, .protocol = protocol});
  // Not the pool of the other benchmarks: a larger one fills caches.
  const auto pool =
      make_packet_pool({.name = "many", .mbufs = 131'072, .frame_room_bytes = kHeaderRoomBytes});
  lab::Simulation simulation(c.switches, c.traffic, *pool);
  simulation.run_until(Time{3ms});
  const auto received = [&simulation] { return simulation.result().switches.received; };
  const std::uint64_t before = received();
  const std::uint64_t sent_again = simulation.result().traffic.roce.retransmitted;
  for (auto _ : state) simulation.run_until(simulation.now() + 200us);
  const std::uint64_t hops = received() - before;
  state.counters["hops"] =
      benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
  state.counters["connections"] = hosts * hosts;
  state.counters["again"] =
      static_cast<double>(simulation.result().traffic.roce.retransmitted - sent_again);
  simulation.flush();
}
BENCHMARK_CAPTURE(job_hops, tcp, tg::TransportProtocol::kTcp)
    ->ArgName("hosts_a_side")
    ->Arg(10)
    ->Arg(32)
    ->Arg(100)
    ->MinTime(2)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(job_hops, roce, tg::TransportProtocol::kRoce)
    ->ArgName("hosts_a_side")
    ->Arg(10)
    ->Arg(32)
    ->Arg(100)
    ->MinTime(2)
    ->Unit(benchmark::kMillisecond);

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
