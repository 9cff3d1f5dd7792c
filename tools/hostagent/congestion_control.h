#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/hostagent/bpf_program.h"

struct dctcp_bpf;

namespace outrider::agent {

/// Registers DCTCP (bpf/dctcp.bpf.c) as a congestion control of this kernel, in all network
/// namespaces, from construction to destruction. If the process is killed the kernel removes
/// it. Connections that use it then keep it until they end.
///
/// Throws AgentError if the kernel refuses, or has a congestion control of that name already.
class CongestionControl {
 public:
  /// @param for_everyone  whether programs without CAP_NET_ADMIN may choose it, too
  explicit CongestionControl(bool for_everyone);
  ~CongestionControl();
  CongestionControl(const CongestionControl&) = delete;
  CongestionControl& operator=(const CongestionControl&) = delete;

  /// Returns the program's counters [AgentDctcpCount].
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Returns the summed cost of its programs, if there is a CostMeter.
  [[nodiscard]] ProgramCost cost() const;

 private:
  struct Destroy {
    void operator()(dctcp_bpf* object) const noexcept;
  };

  std::unique_ptr<dctcp_bpf, Destroy> object_;
  int link_ = -1;
};

}  // namespace outrider::agent
