#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/hostagent/bpf_program.h"

struct dctcp_bpf;

namespace outrider::agent {

/// DCTCP (bpf/dctcp.bpf.c) among the congestion controls of this kernel, in all network
/// namespaces, from construction to destruction; the kernel takes it away too when the
/// process is killed. Connections that use it by then keep it until they end.
///
/// Throws AgentError if the kernel refuses, or has a control of that name already.
class CongestionControl {
 public:
  /// @param for_everyone also programs without CAP_NET_ADMIN may choose it
  explicit CongestionControl(bool for_everyone);
  ~CongestionControl();
  CongestionControl(const CongestionControl&) = delete;
  CongestionControl& operator=(const CongestionControl&) = delete;

  /// By AgentDctcpCount.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Of all its programs together, if there is a CostMeter.
  [[nodiscard]] ProgramCost cost() const;

 private:
  struct Destroy {
    void operator()(dctcp_bpf* object) const noexcept;
  };

  std::unique_ptr<dctcp_bpf, Destroy> object_;
  int link_ = -1;
};

}  // namespace outrider::agent
