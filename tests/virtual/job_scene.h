#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider {

/// Two workers and two servers in a closed loop with pull, without background.
struct Scene {
  Dumbbell dumbbell;
  sw::SwitchProcessConfig switches;
  tg::GeneratorConfig traffic;

  explicit Scene(const Dumbbell& d) : dumbbell(d), switches(d.switches()), traffic(d.traffic()) {
    sw::SwitchPortConfig port = switches.switches[1].ports[0];
    port.name = "s1";
    switches.switches[1].ports.push_back(port);
    switches.switches[1].routes.push_back({"10.0.3.2/32", "s1"});
    traffic.hosts.push_back(
        {.name = "s1", .address = "10.0.3.2", .device = "right", .rate = d.host_rate});
    job().servers = {"s0", "s1"};
  }
  tg::JobConfig& job() { return traffic.jobs[0]; }
};

inline Dumbbell closed_loop() {
  Dumbbell d;
  d.workers = 2;
  d.background_flows = 0;
  d.job.pull = true;
  d.job.schedule = tg::Schedule::kClosedLoop;
  d.job.first_due = {};
  d.job.period = {};
  d.job.compute = std::chrono::milliseconds(20);
  d.job.burst_bytes = 100'001;  // shards of unequal size
  d.job.iterations = 4;
  d.job.aggregate = std::chrono::milliseconds(3);
  return d;
}

inline lab::RunResult run(const Scene& s, rte_mempool& pool) {
  return run(s.switches, s.traffic, pool, Time{} + std::chrono::seconds(60));
}

inline std::vector<tg::BurstRecord> bursts_of(const lab::RunResult& r, BurstDirection direction) {
  std::vector<tg::BurstRecord> found;
  std::ranges::copy_if(
      r.traffic.bursts, std::back_inserter(found),
      [direction](const tg::BurstRecord& b) { return b.identity.direction == direction; });
  return found;
}

}  // namespace outrider
