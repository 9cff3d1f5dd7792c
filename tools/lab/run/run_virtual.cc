#include "tools/lab/run/run_virtual.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "switch/config/config_toml.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/run/virtual_world.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

constexpr int kSlice_rtts = 10;
constexpr int kDrain_rtts = 20;

Time earliest_end(const Case& c) {
  Time end{};
  for (const auto& job : c.traffic.jobs)
    if (job.schedule == tg::Schedule::kFixed)
      end = std::max(end, Time{job.start + job.first_due + job.iterations * job.period});
  return end;
}

Time latest_end(const Case& c) {
  const auto limit =
      std::ranges::find(c.parameters, "limit_seconds", &Parameters::value_type::first);
  if (limit == c.parameters.end()) return kNever;
  return Time{from_seconds(std::get<double>(limit->second))};
}

/// Runs the world to its end. Slices begin at multiples of their length, so that the end
/// of a run does not depend on `stop`. @return false if `stop` ended the run
bool drive(const Case& c, VirtualWorld& world, const StopCheck& stop) {
  const Duration slice = kSlice_rtts * std::max(c.base_rtt, Duration{std::chrono::microseconds(1)});
  const Time earliest = earliest_end(c), limit = latest_end(c);
  Time last = kNever;  ///< end of the run, set when the jobs are done
  while (world.now() < std::min(last, limit)) {
    if (stop && stop()) return false;
    world.run_until(std::min({world.now() + slice, last, limit}));
    if (last == kNever && world.finished())
      last = std::max(world.now() + kDrain_rtts * c.base_rtt, earliest);
    if (world.next() == kNever && !world.finished()) break;  // no event is left
  }
  return true;
}

/// Gives the switches the keys of the jobs that sign, which are in no files.
sw::SwitchProcessConfig with_keys(sw::SwitchProcessConfig switches,
                                  const std::map<std::string, SignalKey>& keys) {
  for (auto& each : switches.switches)
    for (auto& signer : each.signals.signers) {
      signer.read_keys.clear();
      for (const auto& file : signer.keys) signer.read_keys.push_back({.key = keys.at(file)});
    }
  return switches;
}

}  // namespace

std::uint32_t buffers_needed(const Case& c) {
  const std::uint64_t sum = std::uint64_t{required_mbufs(c.switches)} + required_mbufs(c.traffic);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop) {
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  RunResult result;
  {
    const auto keys = virtual_signal_keys(c.traffic);
    VirtualWorld world(with_keys(c.switches, keys), c.traffic, pool, keys);
    const bool whole = drive(c, world, stop);
    result = world.result();
    result.interrupted = !whole;
    world.flush();
  }
  const auto in_use = rte_mempool_in_use_count(&pool);
  result.mbufs_leaked = in_use > in_use_before ? in_use - in_use_before : 0;
  return result;
}

}  // namespace outrider::lab
