// Measures what a hop costs as the network grows. A hop is a packet through one switch. The network
// is a fat tree at 100 Gbit/s, with 8,192 hosts if k is 32. Every host sends 1 MiB by TCP, at time
// 0, to the host half the network further on. CPU time has the TCP of both hosts in it, and ends
// with the last flow; it does not have the making of the world. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/config/toml_file.h"
#include "common/dpdk/mempool.h"
#include "tests/support/test_eal.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/virtual_world.h"

namespace outrider {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kFlowBytes = 1 << 20;
constexpr std::uint32_t kPacketsInFlight = 128;  // of each host, in the mean; checked

/// The planner makes the network and its routes; the transfers take the place of its traffic.
lab::Case fat_tree(std::uint32_t k, bool spray) {
  const std::uint32_t hosts = k * k * k / 4;
  const std::string text = R"(
name = "fabric-hops"
question = "What does a hop cost?"
[fabric]
kind = "fat_tree"
host_rate = "100gbit"
uplink_rate = "100gbit"
host_delay = "1us"
uplink_delay = "1us"
k = )" + std::to_string(k) +
                           R"(
[[hosts]]
name = "host"
count = )" + std::to_string(hosts - 2) +
                           R"(
[background]
from = "host"
to = "host"
[[job]]
name = "job"
workers = 1
[network]
measured = "leaf_0.to_aggregation_0"
[parameters]
switch.queue.limit_packets = 200
switch.marker.kind = "tail_drop"
paths = ")" + (spray ? "spray" : "flow") +
                           R"("
[[arm]]
label = "off"
)";
  const auto experiment = lab::experiment_from(*parse_toml(text).config, ".");
  if (!experiment) throw std::runtime_error(format_issues("fabric-hops", experiment.issues));
  auto plan = lab::make_plan(*experiment.config);
  if (!plan) throw std::runtime_error(format_issues("fabric-hops", plan.issues));
  lab::Case c = std::move(plan.config->front());
  tg::TcpConfig tcp;
  tcp.control.controller = tg::Controller::kReno;
  tcp.min_rto = tcp.initial_rto = 10ms;
  tcp.ack_every_segments = 1;
  c.traffic.transports = {{"reno", tcp}};
  c.traffic.jobs.clear();
  c.traffic.long_flows.clear();
  for (std::uint32_t i = 0; i < hosts; ++i)
    c.traffic.transfers.push_back({.name = "flow_" + std::to_string(i),
                                   .from = c.traffic.hosts[i].name,
                                   .to = c.traffic.hosts[(i + hosts / 2) % hosts].name,
                                   .bytes = kFlowBytes,
                                   .transport = "reno"});
  return c;
}

/// Resident memory of this process [bytes]. What an earlier benchmark freed is taken again and
/// does not show: --benchmark_filter chooses one.
std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Refuses a run that waited for buffers, which a network does not, or whose books are wrong.
void count(benchmark::State& state, const lab::RunResult& result) {
  if (result.traffic.mbuf_exhausted != 0) state.SkipWithError("the pool was too small");
  if (!result.switches.ledger_balanced || !result.traffic.ledger_balanced)
    state.SkipWithError("the ledger is not balanced");
  const auto hops = static_cast<double>(result.switches.received);
  state.counters["hops"] = hops;
  state.counters["hops_rate"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
  std::vector<std::int64_t> ends_ns;
  for (const auto& t : result.traffic.transfers) {
    state.counters["retransmitted"] += static_cast<double>(t.retransmitted);
    state.counters["rtos"] += static_cast<double>(t.rtos_data);
    ends_ns.push_back(t.ended_ns);
  }
  for (const auto& of_class : result.switches.drops.values)
    state.counters["dropped"] += static_cast<double>(sum(of_class));
  std::ranges::sort(ends_ns);
  state.counters["median_end_us"] = static_cast<double>(ends_ns[ends_ns.size() / 2]) / 1000;
  state.counters["end_us"] = static_cast<double>(ends_ns.back()) / 1000;
}

void fabric_hops(benchmark::State& state) {
  const lab::Case c = fat_tree(static_cast<std::uint32_t>(state.range(0)), state.range(1) != 0);
  const auto hosts = static_cast<double>(c.traffic.hosts.size());
  const auto pool = make_packet_pool(
      {.name = "fabric",
       .mbufs = 8192 + kPacketsInFlight * static_cast<std::uint32_t>(c.traffic.hosts.size()),
       .frame_room_bytes = kHeaderRoomBytes});
  lab::RunResult result;
  double bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::uint64_t before = resident_bytes();
    lab::VirtualWorld world(c.switches, c.traffic, *pool);
    state.ResumeTiming();
    while (!world.finished()) world.run_until(world.now() + 100us);
    state.PauseTiming();
    bytes = static_cast<double>(resident_bytes() - before);
    result = world.result();
    world.flush();
    state.ResumeTiming();
  }
  count(state, result);
  state.counters["bytes_per_host"] = bytes / hosts;
}
BENCHMARK(fabric_hops)
    ->ArgNames({"k", "spray"})
    ->ArgsProduct({{4, 8, 16, 32}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const outrider::TestEal eal(1024);
  benchmark::RunSpecifiedBenchmarks();
}
