#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider {

/// The receiving side of priority flow control (PFC) for one port and one priority: counts what has
/// come by the port and has not left the switch yet, and decides when the neighbour pauses.
///
/// From xoff_bytes on the neighbour is to pause, down to xon_bytes it still does. A pause ends by
/// itself, so it is renewed when half of it is over. What comes until the pause acts goes to the
/// headroom; beyond it a packet is refused.
///
/// It decides and keeps account; the caller drops and sends. Call admits() and then charge() for
/// each packet that is taken, release() when it has left, and on_sent() when a frame that says
/// pauses() has left. Identity: held_bytes() == charged - released, and never more than
/// xoff_bytes + headroom_bytes. O(1), allocates nothing. Not thread-safe.
///
/// Source: IEEE 802.1Q, clause 36 and annex N. Thresholds are fixed; switch chips also have some
/// that depend on the free memory.
class PauseAccount {
 public:
  struct Limits {
    std::uint64_t xoff_bytes = 0;      ///< > xon_bytes
    std::uint64_t xon_bytes = 0;       ///< frame bytes, as all
    std::uint64_t headroom_bytes = 0;  ///< above xoff_bytes
    Duration pause{};                  ///< that one frame asks for, > 0
  };
  /// What the neighbour is to be told now.
  enum class Tell : std::uint8_t { kNothing, kPause, kResume };

  explicit PauseAccount(const Limits& limits) noexcept : limits_(limits) {
    assert(limits.xoff_bytes > limits.xon_bytes && limits.pause > Duration::zero());
  }

  [[nodiscard]] bool admits(std::uint32_t bytes) const noexcept {
    return held_bytes_ + bytes <= limits_.xoff_bytes + limits_.headroom_bytes;
  }
  /// @pre admits(bytes)
  [[nodiscard]] Tell charge(std::uint32_t bytes) noexcept {
    assert(admits(bytes));
    held_bytes_ += bytes;
    most_held_bytes_ = std::max(most_held_bytes_, held_bytes_);
    if (pauses_ || held_bytes_ < limits_.xoff_bytes) return Tell::kNothing;
    pauses_ = true;
    return Tell::kPause;
  }
  /// @pre so many bytes were charged and not released
  [[nodiscard]] Tell release(std::uint32_t bytes) noexcept {
    assert(bytes <= held_bytes_);
    held_bytes_ -= bytes;
    if (!pauses_ || held_bytes_ > limits_.xon_bytes) return Tell::kNothing;
    pauses_ = false;
    renew_at_ = kNever;
    return Tell::kResume;
  }

  /// Notes that the neighbour was told what pauses() says.
  void on_sent(Time now) noexcept { renew_at_ = pauses_ ? now + limits_.pause / 2 : kNever; }
  /// Returns when the neighbour is to be told again; kNever: not before charge() or release() say
  /// so.
  [[nodiscard]] Time renew_at() const noexcept { return renew_at_; }
  /// Changes how long the pauses last that are sent from now on. @pre > 0
  void change_pause(Duration pause) noexcept { limits_.pause = pause; }
  /// Returns whether the neighbour is to pause.
  [[nodiscard]] bool pauses() const noexcept { return pauses_; }
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_; }
  [[nodiscard]] std::uint64_t most_held_bytes() const noexcept { return most_held_bytes_; }

 private:
  Limits limits_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t most_held_bytes_ = 0;
  Time renew_at_ = kNever;
  bool pauses_ = false;
};

}  // namespace outrider
