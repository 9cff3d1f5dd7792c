#include "common/dpdk/eal/lcores.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <string>
#include <vector>

#include "common/dpdk/eal/error.h"

namespace outrider {

void run_on_lcores(std::uint32_t count, const std::function<void(std::uint32_t)>& work) {
  assert(rte_lcore_id() == rte_get_main_lcore());
  struct Share {
    const std::function<void(std::uint32_t)>* work;
    std::uint32_t index;
    std::atomic<std::uint32_t>* ended;
  };
  // What an lcore has written is ours after its end. rte_eal_wait_lcore() sees to that, but
  // ThreadSanitizer does not see what DPDK does.
  std::atomic<std::uint32_t> ended{0};
  std::vector<Share> shares;
  std::vector<unsigned> ids{rte_get_main_lcore()};
  unsigned id = 0;
  RTE_LCORE_FOREACH_WORKER(id) ids.push_back(id);
  if (ids.size() < count)
    throw EnvironmentError("lcores: " + std::to_string(count) + " are wanted and the EAL has " +
                           std::to_string(ids.size()) +
                           ". Name as many with --lcores in the EAL arguments, or leave that out.");
  for (std::uint32_t i = 0; i < count; ++i) shares.push_back({&work, i, &ended});
  const auto run = [](void* share) {
    const Share& s = *static_cast<Share*>(share);
    (*s.work)(s.index);
    s.ended->fetch_add(1, std::memory_order_release);
    return 0;
  };
  for (std::uint32_t i = 1; i < count; ++i) {
    const int error = rte_eal_remote_launch(run, &shares[i], ids[i]);
    assert(error == 0);  // fails only if that lcore is busy
    static_cast<void>(error);
  }
  work(0);
  for (std::uint32_t i = 1; i < count; ++i) rte_eal_wait_lcore(ids[i]);
  [[maybe_unused]] const std::uint32_t all = ended.load(std::memory_order_acquire);
  assert(all + 1 == count);
}

std::vector<std::uint32_t> cpus_of_lcores() {
  std::vector<std::uint32_t> cpus;
  unsigned id = 0;
  RTE_LCORE_FOREACH(id) {
    const rte_cpuset_t set = rte_lcore_cpuset(id);
    for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace outrider
