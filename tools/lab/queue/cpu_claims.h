#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace outrider::lab {

/// CPUs of this machine that no other worker has, as long as it lives. A CPU is claimed by an
/// abstract socket name, which Linux gives to one process of a machine (of a network namespace) and
/// takes back when this process and its children have ended, however they end. So there is no file
/// that another user cannot open, that a cleaner removes, or that a killed worker leaves.
class CpuClaims {
 public:
  /// Claims the first `count` CPUs of `allowed` that are free.
  /// @param name  beginning of the sockets' names, at most 80 characters
  /// @throws EnvironmentError if too few are free
  CpuClaims(std::size_t count, const std::vector<unsigned>& allowed,
            const std::string& name = "outrider-lab-cpu-");
  ~CpuClaims();
  CpuClaims(const CpuClaims&) = delete;
  CpuClaims& operator=(const CpuClaims&) = delete;

  [[nodiscard]] const std::vector<unsigned>& cpus() const noexcept { return cpus_; }

 private:
  void choose(std::size_t count, const std::vector<unsigned>& allowed, const std::string& name);
  void release() noexcept;

  std::vector<unsigned> cpus_{};
  std::vector<int> sockets_{};  ///< [cpus_]
};

}  // namespace outrider::lab
