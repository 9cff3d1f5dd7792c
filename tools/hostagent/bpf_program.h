#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct bpf_object;

namespace outrider::agent {

/// Throws AgentError with what a failed load of a BPF object means and what helps.
/// @param error of libbpf, negative
[[noreturn]] void refuse_load(int error);

/// Sums of a per-CPU array of 64-bit counters, one for each key below `entries`.
std::vector<std::uint64_t> read_counts(int map, std::uint32_t entries);

/// What the kernel measured of a program: see CostMeter.
struct ProgramCost {
  std::uint64_t runs = 0;
  std::uint64_t nanoseconds = 0;
};
ProgramCost cost_of(int program);
/// Of the programs of an object together.
ProgramCost cost_of_all(const bpf_object* object);

/// While there is one, the kernel times all BPF programs of the host (kernel.bpf_stats_enabled).
/// Throws AgentError if it does not.
class CostMeter {
 public:
  CostMeter();
  ~CostMeter();
  CostMeter(const CostMeter&) = delete;
  CostMeter& operator=(const CostMeter&) = delete;

 private:
  int fd_;
};

}  // namespace outrider::agent
