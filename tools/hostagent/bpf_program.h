#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct bpf_object;

namespace outrider::agent {

/// Throws an AgentError that says why a BPF object could not be loaded and what helps.
/// @param error  error of libbpf, negative
[[noreturn]] void refuse_load(int error);

/// Returns the sums over all CPUs of a per-CPU array of 64-bit counters, for the keys below
/// `entries`.
std::vector<std::uint64_t> read_counts(int map, std::uint32_t entries);

/// The run time that the kernel has measured while there was a CostMeter.
struct ProgramCost {
  std::uint64_t runs = 0;
  std::uint64_t nanoseconds = 0;
};
/// Returns the cost of one program. @param program  file descriptor
ProgramCost cost_of(int program);
/// Returns the summed cost of all programs of an object.
ProgramCost cost_of_all(const bpf_object* object);

/// Makes the kernel time all BPF programs of the host while this object exists
/// (kernel.bpf_stats_enabled). Throws AgentError if the kernel refuses.
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
