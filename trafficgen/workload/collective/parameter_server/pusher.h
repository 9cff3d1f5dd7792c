#pragma once

#include <cstdint>
#include <memory>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/collective/parameter_server/context.h"

namespace outrider::tg {

/// The worker's side of parameter servers. It hands the gradients over in the order of the send
/// policy and waits for the parameters of every server.
class Pusher final : private TimerClient {
 public:
  /// @param context,host must outlive the pusher
  Pusher(PsContext& context, std::uint32_t worker, Host& host);
  ~Pusher() = default;

  void begin(std::uint32_t iteration, Time now) noexcept;
  void on_ready(const GradientPiece& piece, bool last, Time now) noexcept;
  void on_released(Time now) noexcept;
  void hand_out(Time now) noexcept;
  void on_acknowledged(std::uint32_t server, std::uint64_t bytes, Time now) noexcept;
  void on_pulled(const Lane& lane, const BurstArrival& arrival, Time now) noexcept;
  [[nodiscard]] bool needs_acknowledgments() const noexcept {
    return policy_->needs_acknowledgments();
  }

 private:
  /// @param tag the iteration; a timer of an earlier one is ignored as stale
  void on_timer(std::uint32_t tag, Time now) noexcept override {
    if (tag == iteration_) hand_out(now);
  }

  PsContext& context_;
  std::uint32_t worker_;
  Host& host_;
  std::unique_ptr<SendPolicy> policy_;
  Time wakes_at_ = kNever;
  std::uint32_t iteration_ = 0;
  std::uint32_t pulls_missing_ = 0;
  bool all_ready_ = false;
  bool released_ = false;
};

}  // namespace outrider::tg
