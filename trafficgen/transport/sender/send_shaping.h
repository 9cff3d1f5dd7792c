#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/sender/send_pacing.h"
#include "trafficgen/transport/sender/send_state.h"

namespace outrider::tg {

/// Decides whether a segment that may leave does leave now: segments are joined to bursts
/// (SegmentBursts) and paced (SendPacing), where that is configured. Not thread-safe.
class SendShaping {
 public:
  explicit SendShaping(bool paced) noexcept : pacing_(paced) {}

  [[nodiscard]] bool paced() const noexcept { return pacing_.paced(); }
  /// See SendPacing::release().
  [[nodiscard]] Time release() const noexcept { return pacing_.release(); }
  void end_hold(Time now) noexcept { pacing_.end_hold(now); }
  /// Returns how long ago data was last sent.
  [[nodiscard]] Duration idle(Time now) const noexcept { return now - last_sent_; }

  /// Returns true if a segment may leave now. @param may it might, if all left when it is allowed
  [[nodiscard, gnu::noinline]] bool departs(SendState& state, bool recovering, bool may,
                                            Time now) noexcept;
  void on_sent(SendState& state, std::uint32_t payload_bytes, Time now) noexcept {
    last_sent_ = now;
    if (state.shaped) [[unlikely]]
      note_departure(state, payload_bytes, now);
  }

 private:
  [[nodiscard]] bool may_join(SendState& state, bool recovering, Time now) const noexcept;
  [[gnu::noinline]] void note_departure(SendState& state, std::uint32_t payload_bytes,
                                        Time now) noexcept;

  Time last_sent_{};  ///< when data was last sent
  [[no_unique_address]] SendPacing pacing_;
};

}  // namespace outrider::tg
