#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "switch/aqm/shared_buffer.h"

namespace outrider {

/// The receiving side of priority flow control (PFC) for one port and one priority: counts what has
/// come by the port and has not left the switch yet, and decides when the neighbour pauses.
///
/// With memory of its own: from xoff_bytes on the neighbour is to pause, down to xon_bytes it still
/// does. What comes until the pause acts goes to the headroom; beyond it a packet is refused.
///
/// In shared memory (dynamic XOFF): a packet that the SharedBuffer would refuse goes to the
/// headroom and has the neighbour pause. What leaves empties the headroom first; once it is empty,
/// and the occupancy is xon_offset_bytes below the queue's threshold of that moment, the neighbour
/// may go on. The threshold is asked when a packet of this account comes or leaves, and at no other
/// time: so the account of an empty queue never pauses.
///
/// A pause ends by itself, so it is renewed when half of it is over.
///
/// It decides and keeps account; the caller drops and sends. Call admits() and then charge() for
/// each packet that is taken, release() when it has left, and on_sent() when a frame that says
/// pauses() has left. Identity: occupancy_bytes() == charged - released. It is never more than
/// headroom_bytes above xoff_bytes, or above what is charged to the shared memory. O(1), allocates
/// nothing. Not thread-safe.
///
/// Source: IEEE 802.1Q, clause 36 and annex N, with fixed thresholds. Those in shared memory are
/// Choudhury's and Hahne's (see SharedBuffer) with a headroom, as switch chips have them; SONiC
/// calls alpha dynamic_th, as an exponent of 2, and the offset xon_offset.
class PauseAccount {
 public:
  /// The part of the shared memory that an account may take.
  struct Share {
    SharedBuffer* buffer = nullptr;  ///< must outlive the account; nullptr: it has its own memory
    std::size_t queue = 0;           ///< the account's number there
    std::optional<std::uint64_t> xon_offset_bytes{};  ///< absent: half of the threshold
  };
  struct Limits {
    std::uint64_t xoff_bytes = 0;      ///< > xon_bytes; neither matters in shared memory
    std::uint64_t xon_bytes = 0;       ///< frame bytes, as all
    std::uint64_t headroom_bytes = 0;  ///< above xoff_bytes
    Duration pause{};                  ///< that one frame asks for, > 0
    Share share{};
  };
  /// What the neighbour is to be told now.
  enum class Tell : std::uint8_t { kNothing, kPause, kResume };

  explicit PauseAccount(const Limits& limits) noexcept : limits_(limits) {
    assert(is_dynamic() || limits.xoff_bytes > limits.xon_bytes);
    assert(limits.pause > Duration::zero());
  }

  [[nodiscard]] bool admits(std::uint32_t bytes) const noexcept {
    if (is_dynamic())
      return is_shared(bytes) || headroom_used_bytes_ + bytes <= limits_.headroom_bytes;
    return occupancy_bytes_ + bytes <= limits_.xoff_bytes + limits_.headroom_bytes;
  }
  /// @pre admits(bytes)
  [[nodiscard]] Tell charge(std::uint32_t bytes) noexcept {
    assert(admits(bytes));
    const bool below = take(bytes);
    occupancy_bytes_ += bytes;
    max_occupancy_bytes_ = std::max(max_occupancy_bytes_, occupancy_bytes_);
    if (pauses_ || below) return Tell::kNothing;
    pauses_ = true;
    return Tell::kPause;
  }
  /// @pre so many bytes were charged and not released
  [[nodiscard]] Tell release(std::uint32_t bytes) noexcept {
    assert(bytes <= occupancy_bytes_);
    occupancy_bytes_ -= bytes;
    give_back(bytes);
    if (!pauses_ || !may_resume()) return Tell::kNothing;
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
  [[nodiscard]] std::uint64_t occupancy_bytes() const noexcept { return occupancy_bytes_; }
  [[nodiscard]] std::uint64_t max_occupancy_bytes() const noexcept { return max_occupancy_bytes_; }

 private:
  [[nodiscard]] bool is_dynamic() const noexcept { return limits_.share.buffer != nullptr; }
  /// @pre is_dynamic()
  [[nodiscard]] bool is_shared(std::uint32_t bytes) const noexcept {
    return limits_.share.buffer->admits(limits_.share.queue, bytes) == BufferVerdict::kAdmit;
  }
  /// @return whether the threshold is not reached with it
  bool take(std::uint32_t bytes) noexcept {
    if (!is_dynamic()) return occupancy_bytes_ + bytes < limits_.xoff_bytes;
    const bool below = is_shared(bytes);
    if (below) limits_.share.buffer->charge(limits_.share.queue, bytes);
    else headroom_used_bytes_ += bytes;
    return below;
  }
  void give_back(std::uint32_t bytes) noexcept {
    if (!is_dynamic()) return;
    const auto first =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, headroom_used_bytes_));
    headroom_used_bytes_ -= first;
    limits_.share.buffer->release(limits_.share.queue, bytes - first);
  }
  [[nodiscard]] bool may_resume() const noexcept {
    if (!is_dynamic()) return occupancy_bytes_ <= limits_.xon_bytes;
    const Share& share = limits_.share;
    const std::uint64_t xoff = share.buffer->threshold_bytes(share.queue);
    const std::uint64_t offset = share.xon_offset_bytes.value_or(xoff - xoff / 2);
    return headroom_used_bytes_ == 0 && occupancy_bytes_ <= xoff - std::min(xoff, offset);
  }

  Limits limits_;
  std::uint64_t occupancy_bytes_ = 0;
  std::uint64_t max_occupancy_bytes_ = 0;
  std::uint64_t headroom_used_bytes_ = 0;  ///< of occupancy_bytes_; only if dynamic
  Time renew_at_ = kNever;
  bool pauses_ = false;
};

}  // namespace outrider
