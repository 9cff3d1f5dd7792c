// Measures what a hop costs as the network grows. A hop is a packet through one switch. The network
// is a fat tree at 100 Gbit/s, with 8,192 hosts if k is 32. Every host sends 1 MiB by TCP, at time
// 0, to the host half the network further on. Times have the TCP of both hosts in them, and end
// with the last flow; they do not have the making of the simulation. Every run has processes of its
// own, one for each rank. See docs/performance.md.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/config/toml_file.h"
#include "common/dpdk/packet/mempool.h"
#include "tests/support/test_eal.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/ranks/local_ranks.h"
#include "tools/lab/ranks/rank_result.h"
#include "tools/lab/ranks/rank_simulation.h"
#include "tools/lab/ranks/rank_steps.h"
#include "tools/lab/simulation/partition.h"

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

/// Resident memory of this process [bytes].
std::uint64_t resident_bytes() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Counters by their names, as a text of one line each. Rank 0 sends it to the benchmark.
using Counters = std::map<std::string, double>;

std::string text_of(const Counters& counters) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& [name, value] : counters) text << name << ' ' << value << '\n';
  return text.str();
}

Counters counters_from(const std::string& text) {
  Counters counters;
  std::istringstream in(text);
  std::string name;
  for (double value = 0; in >> name >> value;) counters[name] = value;
  return counters;
}

/// Refuses a run that waited for buffers, which a network does not, or whose books are wrong.
Counters count(const lab::RunResult& result) {
  if (result.traffic.mbuf_exhausted != 0) throw std::runtime_error("the pool was too small");
  if (!result.switches.ledger_balanced || !result.traffic.ledger_balanced)
    throw std::runtime_error("the ledger is not balanced");
  Counters counters{{"hops", static_cast<double>(result.switches.received)}};
  std::vector<std::int64_t> ends_ns;
  for (const auto& t : result.traffic.transfers) {
    counters["retransmitted"] += static_cast<double>(t.retransmitted);
    counters["rtos"] += static_cast<double>(t.rtos_data);
    ends_ns.push_back(t.ended_ns);
  }
  for (const auto& of_class : result.switches.drops.values)
    counters["dropped"] += static_cast<double>(sum(of_class));
  std::ranges::sort(ends_ns);
  counters["median_end_us"] = static_cast<double>(ends_ns[ends_ns.size() / 2]) / 1000;
  counters["end_us"] = static_cast<double>(ends_ns.back()) / 1000;
  return counters;
}

/// The costs of one rank, from the first event to the end of the last flow.
struct Spent {
  double wall_s = 0;
  double cpu_s = 0;
  double waited_s = 0;  ///< for other ranks
  double bytes = 0;     ///< resident, that the simulation and its run have taken
};

Spent run(lab::RankSimulation& simulation, lab::Peers& peers, Duration lookahead) {
  using Clock = std::chrono::steady_clock;
  const double waited_before = peers.costs().seconds_waited;
  const std::clock_t cpu_before = std::clock();
  const auto began = Clock::now();
  lab::PeerRanks ranks(simulation, peers);
  lab::RankedRun run(ranks, lookahead);
  while (!run.finished()) run.run_until(run.now() + 100us);
  return {.wall_s = std::chrono::duration<double>(Clock::now() - began).count(),
          .cpu_s = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC,
          .waited_s = peers.costs().seconds_waited - waited_before};
}

/// Does one rank's part. @return the counters of all, at rank 0
std::string run_rank(const lab::Case& c, const lab::Partition& partition, lab::Peers& peers) {
  const TestEal eal(1024);
  const auto hosts = static_cast<std::uint32_t>(c.traffic.hosts.size());
  const auto pool = make_packet_pool({.name = "fabric",
                                      .mbufs = 8192 + kPacketsInFlight * hosts,
                                      .frame_room_bytes = kHeaderRoomBytes});
  const std::uint64_t before = resident_bytes();
  lab::RankSimulation simulation(c.switches, c.traffic, partition, peers.rank(), *pool);
  Spent spent = run(simulation, peers, partition.lookahead);
  spent.bytes = static_cast<double>(resident_bytes() - before);
  std::ostringstream own;
  own << spent.wall_s << ' ' << spent.cpu_s << ' ' << spent.waited_s << ' ' << spent.bytes;
  const auto all_spent = peers.gather(own.str());
  const auto texts = peers.gather(lab::serialize(simulation.result()));
  simulation.flush();
  if (peers.rank() != 0) return {};
  std::vector<lab::RankResult> results;
  results.reserve(texts.size());
  for (const auto& text : texts) results.push_back(lab::rank_result_from(text));
  Counters counters = count(lab::join_parts(c, partition, std::move(results)));
  for (const auto& text : all_spent) {
    Spent of_rank;
    std::istringstream(text) >> of_rank.wall_s >> of_rank.cpu_s >> of_rank.waited_s >>
        of_rank.bytes;
    counters["wall_s"] = std::max(counters["wall_s"], of_rank.wall_s);
    counters["cpu_s"] = std::max(counters["cpu_s"], of_rank.cpu_s);
    counters["waited_s"] = std::max(counters["waited_s"], of_rank.waited_s);
    counters["bytes_per_host"] += of_rank.bytes / hosts;
  }
  counters["hops_per_cpu_s"] = counters["hops"] / counters["cpu_s"];
  return text_of(counters);
}

void fabric_hops(benchmark::State& state) {
  const lab::Case c = fat_tree(static_cast<std::uint32_t>(state.range(0)), state.range(1) != 0);
  const auto ranks = static_cast<std::uint32_t>(state.range(2));
  const auto tiles = static_cast<std::uint32_t>(state.range(3));
  const lab::Partition partition =
      lab::make_partition(c.switches, c.traffic, ranks, lab::CutKind::kBlocks, tiles);
  Counters counters;
  try {
    for (auto _ : state) {
      counters = counters_from(lab::run_on_local_ranks(
          ranks, [&](lab::Peers& peers) { return run_rank(c, partition, peers); }));
      state.SetIterationTime(counters["wall_s"]);
    }
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
  counters["used_tiles"] = partition.tiles;
  for (const auto& [name, value] : counters) state.counters[name] = value;
}
// 0 tiles: as many as outrider-lab takes.
BENCHMARK(fabric_hops)
    ->ArgNames({"k", "spray", "ranks", "tiles"})
    ->ArgsProduct({{4, 8, 16, 32}, {0, 1}, {1, 2}, {0, 1}})
    ->ArgsProduct({{16}, {1}, {1}, {4, 8, 32, 64, 128, 256, 512}})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace outrider

BENCHMARK_MAIN();
