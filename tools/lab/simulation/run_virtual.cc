#include "tools/lab/simulation/run_virtual.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "switch/config/config_toml.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/simulation/drive.h"
#include "tools/lab/simulation/port_recorder.h"
#include "tools/lab/simulation/simulation.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {

namespace {

std::uint64_t buffers_of(const sw::SwitchProcessConfig& switches,
                         const tg::GeneratorConfig& traffic) {
  return std::uint64_t{required_mbufs(switches)} + required_mbufs(traffic);
}

/// Returns what the queues and hosts of the other ranks would hold. Wires are not among it, nor
/// those to hosts, which a port's device stands for: a rank holds what is on the way to it as well
/// as what is on the way from it.
std::uint64_t buffers_elsewhere(const Case& c, const RankPart& part) {
  sw::SwitchProcessConfig switches;
  tg::GeneratorConfig traffic;
  for (std::size_t s = 0; s < c.switches.switches.size(); ++s)
    if (!part.has_switch(s)) switches.switches.push_back(c.switches.switches[s]);
  for (auto& one : switches.switches)
    for (auto& port : one.ports) port.device.reset();
  for (std::size_t host = 0; host < c.traffic.hosts.size(); ++host)
    if (!part.has_host(host)) traffic.hosts.push_back({});
  return buffers_of(switches, traffic) - buffers_of({}, {});
}

}  // namespace

std::uint32_t buffers_needed(const Case& c, const RankPart& part) {
  const std::uint64_t here = buffers_of(c.switches, c.traffic) - buffers_elsewhere(c, part);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(here, std::numeric_limits<std::uint32_t>::max()));
}

RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop,
                      std::uint32_t tiles) {
  std::optional<Partition> partition;  // streams are not cut
  if (c.traffic.streams.empty())
    partition = make_partition(c.switches, c.traffic, 1, CutKind::kBlocks, tiles);
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  RunResult result;
  PortRecorder recorder(c.observed);
  {
    const auto keys = virtual_signal_keys(c.traffic);
    Simulation simulation(with_keys(c.switches, keys), c.traffic, pool, keys,
                          {.partition = partition ? &*partition : nullptr});
    recorder.attach(simulation.network());
    if (c.link_series) simulation.sample_links(c.switches, span_of(c).slice);
    const bool whole = drive(c, simulation, stop);
    result = simulation.result();
    result.interrupted = !whole;
    result.captures = recorder.take();
    simulation.flush();
  }
  result.mbufs_leaked = leaked_since(pool, in_use_before);
  return result;
}

}  // namespace outrider::lab
