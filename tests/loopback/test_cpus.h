#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace outrider {

/// Returns the CPUs that this process may use, at least one.
inline std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

/// Returns a CPU for each of two programs; the same for both if there is one.
inline std::pair<std::string, std::string> two_cpus() {
  const std::vector<int> cpus = allowed_cpus();
  return {std::to_string(cpus.front()), std::to_string(cpus.back())};
}

/// Returns the EAL's argument for lcores that share all CPUs: more lcores than CPUs take turns.
inline std::string shared_lcores(std::uint32_t lcores) {
  std::string cpus;
  for (const int cpu : allowed_cpus()) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  return "--lcores=(0-" + std::to_string(lcores - 1) + ")@(" + cpus + ")";
}

}  // namespace outrider
