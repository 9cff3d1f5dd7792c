#include "tools/hostagent/bpf_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {

void refuse_load(int error) {
  std::string text =
      std::string("the kernel does not take the BPF program: ") + std::strerror(-error);
  if (error == -EPERM || error == -EACCES)
    text += "; run as root, or with CAP_BPF and CAP_NET_ADMIN, hold and dctcp CAP_PERFMON too";
  if (error == -ENOMEM) text += "; raise the limit of locked memory: ulimit -l unlimited";
  if (error == -EINVAL || error == -EOPNOTSUPP) text += "; Linux 5.8 or later is needed";
  throw AgentError(text);
}

std::vector<std::uint64_t> read_counts(int map, std::uint32_t entries) {
  const int cpus = libbpf_num_possible_cpus();
  std::vector<std::uint64_t> of_cpus(cpus > 0 ? static_cast<std::size_t>(cpus) : 1);
  std::vector<std::uint64_t> counts(entries);
  for (std::uint32_t key = 0; key < entries; ++key)
    if (bpf_map_lookup_elem(map, &key, of_cpus.data()) == 0)
      counts[key] = std::accumulate(of_cpus.begin(), of_cpus.end(), std::uint64_t{0});
  return counts;
}

ProgramCost cost_of(int program) {
  bpf_prog_info info{};
  __u32 bytes = sizeof(info);
  if (bpf_obj_get_info_by_fd(program, &info, &bytes) < 0) return {};
  return {.runs = info.run_cnt, .nanoseconds = info.run_time_ns};
}

ProgramCost cost_of_all(const bpf_object* object) {
  ProgramCost sum;
  bpf_program* program = nullptr;
  while ((program = bpf_object__next_program(object, program)) != nullptr) {
    const ProgramCost cost = cost_of(bpf_program__fd(program));
    sum.runs += cost.runs;
    sum.nanoseconds += cost.nanoseconds;
  }
  return sum;
}

CostMeter::CostMeter() : fd_(bpf_enable_stats(BPF_STATS_RUN_TIME)) {
  if (fd_ < 0)
    throw AgentError(std::string("the kernel does not time BPF programs: ") + std::strerror(errno) +
                     "; leave out --measure-cost");
}

CostMeter::~CostMeter() { close(fd_); }

}  // namespace outrider::agent
