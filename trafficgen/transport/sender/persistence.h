#pragma once

#include <algorithm>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider::tg {

/// Decides how long a sender continues with a peer that does not answer. It counts time-outs in a
/// row and probes of a closed window; the intervals of probes double even while they are answered.
///
/// Source: RFC 9293, 3.8.3 (R2) and 3.8.6.1. Not thread-safe.
class Persistence {
 public:
  static constexpr std::uint8_t kMaxTimeouts = 15;  ///< R2 of RFC 9293, 3.8.3

  /// The peer has answered.
  void on_answer() noexcept { timeouts_ = 0; }
  /// @return false if the peer has been silent for kMaxTimeouts time-outs
  [[nodiscard]] bool on_timeout() noexcept {
    if (timeouts_ == kMaxTimeouts) return false;
    ++timeouts_;
    return true;
  }

  [[nodiscard]] bool probe_due() const noexcept { return probe_due_; }
  void take_probe() noexcept { probe_due_ = false; }
  /// Notes that a probe is due. @return time until the next one
  [[nodiscard]] Duration begin_probe(Duration rto, Duration max_rto) noexcept {
    probe_due_ = true;
    Duration interval = rto;
    for (std::uint8_t i = 0; i <= probes_ && interval < max_rto; ++i) interval *= 2;
    if (probes_ < kMaxTimeouts) ++probes_;
    return std::min(interval, max_rto);
  }
  /// Ends the probes because data leaves again.
  void end_probes() noexcept {
    probes_ = 0;
    probe_due_ = false;
  }

 private:
  std::uint8_t timeouts_ : 4 = 0;  ///< since the peer answered
  std::uint8_t probes_ : 4 = 0;    ///< since the peer's window closed
  bool probe_due_ : 1 = false;
};

}  // namespace outrider::tg
