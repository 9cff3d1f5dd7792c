#include "tools/lab/run/cpus.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>

#include "common/dpdk/eal/error.h"

namespace outrider::lab {

std::vector<unsigned> usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

void bind_to(const std::vector<unsigned>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw DpdkError("sched_setaffinity", cpus_text(cpus), errno);
}

std::string cpus_text(const std::vector<unsigned>& cpus) {
  std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (i != 0) text += i + 1 == cpus.size() ? " and " : ", ";
    text += std::to_string(cpus[i]);
  }
  return text;
}

}  // namespace outrider::lab
