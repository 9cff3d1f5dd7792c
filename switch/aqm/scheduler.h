#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <span>

#include "common/core/clock.h"

namespace outrider {

inline constexpr std::uint32_t kMaxQueuesPerPort = 8;

/// Bit q is set if queue q holds a packet.
using QueueMask = std::uint8_t;
static_assert(sizeof(QueueMask) * 8 == kMaxQueuesPerPort);

enum class SchedulerKind : std::uint8_t {
  kStrict,       ///< the lowest queue number first; a FIFO if there is one queue
  kDwrr,         ///< deficit weighted round robin
  kStrictFloor,  ///< strict, but each queue has a guaranteed rate
};

/// Decides which queue of a port is served next. It is always work-conserving: as
/// long as a packet waits, some queue is served.
///
/// For each transmission, call pick() with the queues that wait now, take the head of the
/// queue picked, and call served() with its size. If the head is dropped instead (CoDel),
/// leave out served() and call pick() again. Two calls of pick() in a row return the same
/// queue. `now` does not decrease. O(1): a loop over at most 8 queues, no division, no
/// allocation. Not thread-safe (one lcore owns it).
///
/// kDwrr: Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round
/// Robin", 1996. A queue may send its quantum per turn. What was too little for its head is
/// kept for its next turn; an empty queue keeps nothing.
/// Deviation: turns follow the queue number, not the order of becoming active.
///
/// kStrictFloor: Linux's htb as TensorLights configures it. Each queue has a token bucket of
/// its guaranteed rate. The lowest queue number with tokens goes first. If no queue has
/// tokens, the lowest number borrows, which costs it no tokens. A frame may overdraw a
/// bucket; the queue has tokens again only after the debt is repaid. The guarantee holds if
/// the floors add up to no more than the drain rate of the port, and if a bucket holds what
/// its queue earns while it waits for those before it: depth >= rate x (frames in service
/// and other depths) / (drain - other floors).
class Scheduler {
 public:
  struct Floor {
    double bytes_per_second = 0;  ///< guaranteed, frame bytes; >= 0, 0: none
    double depth_bytes = 0;       ///< bucket [bytes], > 0 if there is a floor
  };
  struct Params {
    SchedulerKind kind = SchedulerKind::kStrict;
    std::uint32_t queues = 1;  ///< in [1, 8]
    /// kDwrr: bytes per turn, >= the largest frame, so that each turn sends
    /// a packet (dwrr_quanta() computes them from weights).
    std::array<std::uint32_t, kMaxQueuesPerPort> quantum_bytes{};
    std::array<Floor, kMaxQueuesPerPort> floors{};  ///< kStrictFloor
  };

  /// Buckets start full. @pre the ranges above, which the configuration checks
  explicit Scheduler(const Params& params, Time now = Time{}) noexcept
      : params_(params),
        kind_(params.queues == 1 ? SchedulerKind::kStrict : params.kind),
        turn_(static_cast<std::uint8_t>(params.queues - 1)),
        refilled_at_(now) {
    assert(params.queues >= 1 && params.queues <= kMaxQueuesPerPort);
    for (std::uint32_t q = 0; q < params.queues; ++q) {
      assert(params.kind != SchedulerKind::kDwrr || params.quantum_bytes[q] > 0);
      assert(params.floors[q].bytes_per_second >= 0);
      assert(params.floors[q].bytes_per_second == 0 || params.floors[q].depth_bytes > 0);
      if (params.floors[q].bytes_per_second > 0) has_floor_ |= bit(q);
      tokens_[q] = params.floors[q].depth_bytes;
      bytes_per_ns_[q] = params.floors[q].bytes_per_second * 1e-9;
    }
  }

  /// @param backlogged queues that are not empty; not 0, no bit beyond the number of queues
  /// @param head_bytes head_bytes(q) -> frame bytes of the head of backlogged queue q
  /// @return the queue to serve
  template <class HeadBytes>
  [[nodiscard]] std::uint32_t pick(QueueMask backlogged, HeadBytes&& head_bytes,
                                   Time now) noexcept {
    assert(backlogged != 0 && backlogged >> params_.queues == 0);
    switch (kind_) {
      case SchedulerKind::kDwrr:
        return pick_dwrr(backlogged, head_bytes);
      case SchedulerKind::kStrictFloor:
        return pick_strict_floor(backlogged, now);
      case SchedulerKind::kStrict:
        break;
    }
    return first(backlogged);
  }

  /// Charges the head of the queue last picked, which is being transmitted.
  void served(std::uint32_t queue, std::uint32_t frame_bytes) noexcept {
    assert(queue < params_.queues);
    if (kind_ == SchedulerKind::kDwrr) {
      assert(queue == turn_ && deficit_bytes_[queue] >= frame_bytes);
      deficit_bytes_[queue] -= frame_bytes;
    } else if (kind_ == SchedulerKind::kStrictFloor && within_floor_) {
      tokens_[queue] -= frame_bytes;
    }
  }

  [[nodiscard]] const Params& params() const noexcept { return params_; }

 private:
  static constexpr QueueMask bit(std::uint32_t q) noexcept {
    return static_cast<QueueMask>(1U << q);
  }
  static std::uint32_t first(QueueMask mask) noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(mask));
  }
  /// Returns the next backlogged queue in cyclic order; `q` itself comes last.
  static std::uint32_t next_after(std::uint32_t q, QueueMask mask) noexcept {
    const auto rotated = std::rotr(mask, static_cast<int>(q + 1));
    return (q + 1 + first(rotated)) % kMaxQueuesPerPort;
  }

  template <class HeadBytes>
  std::uint32_t pick_dwrr(QueueMask backlogged, HeadBytes&& head_bytes) noexcept {
    if ((backlogged & bit(turn_)) == 0) deficit_bytes_[turn_] = 0;
    else if (deficit_bytes_[turn_] >= head_bytes(turn_)) return turn_;
    do {  // a single pass if a quantum holds any frame; a larger frame only takes more turns
      turn_ = next_after(turn_, backlogged);
      deficit_bytes_[turn_] += params_.quantum_bytes[turn_];
    } while (deficit_bytes_[turn_] < head_bytes(turn_));
    return turn_;
  }

  std::uint32_t pick_strict_floor(QueueMask backlogged, Time now) noexcept {
    refill(now);
    QueueMask with_tokens = 0;
    for (std::uint32_t q = 0; q < params_.queues; ++q)
      with_tokens = static_cast<QueueMask>(with_tokens | (tokens_[q] > 0 ? bit(q) : 0));
    with_tokens &= static_cast<QueueMask>(backlogged & has_floor_);
    within_floor_ = with_tokens != 0;
    return first(within_floor_ ? with_tokens : backlogged);
  }

  void refill(Time now) noexcept {
    assert(now >= refilled_at_);
    const auto elapsed_ns = static_cast<double>((now - refilled_at_).count());
    refilled_at_ = now;
    for (std::uint32_t q = 0; q < params_.queues; ++q)
      tokens_[q] =
          std::min(params_.floors[q].depth_bytes, tokens_[q] + elapsed_ns * bytes_per_ns_[q]);
  }

  Params params_;
  SchedulerKind kind_;  ///< strict if there is one queue: a FIFO without overhead
  std::uint32_t turn_;  ///< kDwrr: the queue whose turn it is
  std::array<std::uint64_t, kMaxQueuesPerPort> deficit_bytes_{};
  std::array<double, kMaxQueuesPerPort> tokens_{};  ///< [bytes], negative: overdrawn
  std::array<double, kMaxQueuesPerPort> bytes_per_ns_{};
  Time refilled_at_;
  QueueMask has_floor_ = 0;
  bool within_floor_ = false;  ///< the last pick uses tokens
};

/// Returns quanta in proportion to the weights, the smallest being one largest frame. This is
/// the finest interleaving at which each turn still sends a packet.
/// @pre 1..8 weights, each > 0; the largest is at most 2^32 / frame times the smallest
inline std::array<std::uint32_t, kMaxQueuesPerPort> dwrr_quanta(
    std::span<const double> weights, std::uint32_t largest_frame_bytes) noexcept {
  assert(!weights.empty() && weights.size() <= kMaxQueuesPerPort);
  const double smallest = *std::min_element(weights.begin(), weights.end());
  assert(smallest > 0 && largest_frame_bytes > 0);
  std::array<std::uint32_t, kMaxQueuesPerPort> quanta{};
  for (std::size_t q = 0; q < weights.size(); ++q)
    quanta[q] =
        static_cast<std::uint32_t>(std::llround(weights[q] / smallest * largest_frame_bytes));
  return quanta;
}

}  // namespace outrider
