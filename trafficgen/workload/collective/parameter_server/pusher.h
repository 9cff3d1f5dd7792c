#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trafficgen/core/fifo.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/collective/parameter_server/context.h"

namespace outrider::tg {

/// The worker's side of parameter servers. It hands the gradients over in the order of the send
/// policy and waits for the parameters of every server.
///
/// Each message takes MessageConfig::worker_time of the sending thread before it leaves. The policy
/// is asked when the thread is free: what is most urgent then is the next message.
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
  enum Tag : std::uint32_t { kAskAgain, kMessageLeaves, kTags };

  /// A timer carries its iteration, so that a timer of an earlier one is recognised as stale.
  void set_timer(Tag tag, Time at) noexcept {
    host_.set_timer(*this, iteration_ * kTags + tag, at);
  }
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void prepare(const PushSegment& segment, Time now) noexcept;
  void leave(const PushSegment& segment, Time now) noexcept;
  bool begins_message(const PushSegment& segment) noexcept;

  PsContext& context_;
  std::uint32_t worker_;
  Host& host_;
  std::unique_ptr<SendPolicy> policy_;
  // The message in the sending thread's hands:
  Fifo<PushSegment> message_;
  Duration message_time_{};
  bool busy_ = false;       ///< the thread prepares the message
  bool continues_ = false;  ///< the next segment belongs to the last one's message
  std::uint32_t messages_ = 0;
  std::vector<std::uint32_t> last_message_;  ///< [servers], number of the last one
  Time wakes_at_ = kNever;
  std::uint32_t iteration_ = 0;
  std::uint32_t pulls_missing_ = 0;
  bool all_ready_ = false;
  bool released_ = false;
};

}  // namespace outrider::tg
