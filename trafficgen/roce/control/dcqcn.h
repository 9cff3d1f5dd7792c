#pragma once

#include <cstdint>

#include "trafficgen/core/mltcp.h"
#include "trafficgen/roce/control/rate_controller.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// The reaction point of DCQCN. A CNP lowers the rate by the share alpha / 2, where alpha estimates
/// how often CNPs come. Without CNPs a timer and a byte counter raise the rate again: towards the
/// rate before the CNP (fast recovery), then beyond it (additive, then hyper increase).
///
/// Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section
/// 3.1 and figure 7. Deviations: the rate has a lower limit; hyper increase adds R_HAI itself, as
/// in the simulator that the authors published, and not its multiple as in QCN. Before the first
/// CNP, and when the rate is that of the link again, no timer runs.
///
/// With MLTCP both steps of the target are scaled, R_AI and R_HAI; fast recovery is not.
class Dcqcn final : public RateController {
 public:
  /// @param config must outlive the controller
  /// @param line_bps rate of the host's NIC [bit/s]
  Dcqcn(const DcqcnConfig& config, double line_bps) noexcept;

  [[nodiscard]] double rate_bps(Time now) noexcept override;
  void on_sent(std::uint32_t bytes, Time now) noexcept override;
  void on_cnp(Time now) noexcept override;
  void note_share(double share, Time now) noexcept override;
  [[nodiscard]] RateState state(Time now) const noexcept override;

  [[nodiscard]] double alpha(Time now) noexcept;
  [[nodiscard]] double target_bps() const noexcept { return target_bps_; }

 private:
  void increase() noexcept;
  void run_timers(Time now) noexcept;
  [[nodiscard]] bool limited() const noexcept { return rate_bps_ < line_bps_; }

  const DcqcnConfig& config_;
  double line_bps_;
  double least_bps_;
  double rate_bps_;
  double target_bps_;
  double alpha_ = 1;
  Time alpha_at_{};        ///< when alpha was last updated
  Time increased_at_{};    ///< when the timer last counted
  bool notified_ = false;  ///< a CNP has come
  MltcpGrowth growth_;
  std::uint64_t counted_bytes_ = 0;
  std::uint32_t timer_stage_ = 0;
  std::uint32_t byte_stage_ = 0;
};

}  // namespace outrider::tg
