#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/base/timestamps.h"
#include "trafficgen/transport/memory/segment_arena.h"

namespace outrider::tg {

/// State of RACK about a path's reordering, which outlives a flight.
struct ReorderMemory {
  static constexpr std::uint8_t kPersistence = 16;  ///< recoveries, RFC 8985, 6.2, step 4

  std::uint8_t quarters = 1;             ///< RACK.reo_wnd_mult: of the minimum round trip
  std::uint8_t recoveries_left : 5 = 0;  ///< RACK.reo_wnd_persist
  bool seen : 1 = false;                 ///< RACK.reordering_seen
};

/// Detects losses by the time of transmissions (RFC 8985, section 6.2). Once a transmission has
/// arrived, those that left before it must have arrived too, or arrive within a reordering window.
/// It only decides; the Scoreboard keeps the segments and marks the lost ones.
///
/// Deviation: RACK.min_RTT is the minimum of this flight; the RFC leaves its windowed filter open.
/// Not thread-safe, O(1).
class Rack {
 public:
  static constexpr std::uint32_t kDupThresh = 3;

  /// One transmission. Transmissions are ordered by departure, and at equal times by stream offset,
  /// as in the RFC's RACK_sent_after().
  struct Departure {
    std::int64_t at_ns = INT64_MIN;
    std::uint64_t end = 0;
    auto operator<=>(const Departure&) const = default;
  };
  [[nodiscard]] static Departure departure(const SentSegment& s) noexcept {
    return {s.sent_ns, s.offset + s.length};
  }

  /// Begins an acknowledgment, to which the next arrivals belong.
  /// @param echo TSecr, 0: none
  void begin_ack(Time now, std::uint32_t echo) noexcept {
    now_ = now;
    echo_ = echo;
  }

  /// How a segment is acknowledged.
  enum class Arrival : bool { kCumulative, kSelective };

  /// Steps 1 to 3: `s` is newly acknowledged.
  void on_arrived(const SentSegment& s, Arrival arrival) noexcept {
    const Departure sent = departure(s);
    const Duration rtt = now_ - Time{Duration{sent.at_ns}};
    const std::uint64_t highest = highest_;
    highest_ = std::max(highest_, sent.end);
    if (!s.ever_resent) {
      min_rtt_ = std::min(min_rtt_, rtt);
      if (sent.end < highest) reordered_ = true;
    } else if (of_earlier_transmission(sent, rtt, arrival)) {
      return;
    }
    if (latest_ < sent) {
      latest_ = sent;
      rtt_ = rtt;
    }
  }

  /// Step 4, first half: widens the window, at most once per round trip. @param una,nxt offsets
  void on_duplicate_reported(std::uint64_t una, std::uint64_t nxt, ReorderMemory& memory) noexcept {
    if (una < dsack_round_) return;
    dsack_round_ = nxt;
    if (memory.quarters < UINT8_MAX) ++memory.quarters;
    memory.recoveries_left = ReorderMemory::kPersistence;
  }
  static void on_recovery_end(ReorderMemory& memory) noexcept {
    if (memory.recoveries_left != 0) --memory.recoveries_left;
    if (memory.recoveries_left == 0) memory.quarters = 1;
  }

  /// Returns the window by step 4, second half. @param sacked segments SACKed now
  [[nodiscard]] Duration reorder_window(const ReorderMemory& memory, bool recovering,
                                        std::uint32_t sacked, Duration srtt) const noexcept {
    if (!memory.seen && (recovering || sacked >= kDupThresh)) return Duration::zero();
    if (min_rtt_ == Duration::max()) return Duration::zero();
    return std::min(memory.quarters * min_rtt_ / 4, srtt);
  }

  /// Returns true if the segment left before one that has arrived.
  [[nodiscard]] bool overtaken(const SentSegment& s) const noexcept {
    return departure(s) < latest_;
  }
  /// Returns when an overtaken segment counts as lost (step 5).
  [[nodiscard]] Time lost_at(const SentSegment& s, Duration window) const noexcept {
    return Time{Duration{s.sent_ns}} + rtt_ + window;
  }
  /// Returns the latest such time of all overtaken segments. @pre something has arrived
  [[nodiscard]] Time last_lost_at(Duration window) const noexcept {
    return Time{Duration{latest_.at_ns}} + rtt_ + window;
  }
  /// Returns true if this flight has shown reordering.
  [[nodiscard]] bool reordered() const noexcept { return reordered_; }
  /// Returns the round trip of the transmission that left last among those that arrived.
  [[nodiscard]] Duration rtt() const noexcept { return rtt_; }

 private:
  /// Returns true if the ACK must belong to an earlier transmission, because a retransmission
  /// cannot have been answered yet.
  ///
  /// Deviation from RFC 8985, 6.2, step 2: the echo is asked only for segments that are
  /// acknowledged cumulatively. The ACK for a segment above a hole echoes the timestamp of the last
  /// segment in order (RFC 7323, 4.3), so a probe that arrived above a hole would never count.
  [[nodiscard]] bool of_earlier_transmission(const Departure& sent, Duration rtt,
                                             Arrival arrival) const noexcept {
    const std::uint32_t tick = TimestampClock::at(Time{Duration{sent.at_ns}});
    const bool echoes = arrival == Arrival::kCumulative && echo_ != 0;
    if (echoes && TimestampClock::before(echo_, tick)) return true;
    return min_rtt_ != Duration::max() && rtt < min_rtt_;
  }

  Time now_{};
  Departure latest_{};  ///< RACK.xmit_ts and RACK.end_seq
  Duration rtt_{};
  Duration min_rtt_ = Duration::max();
  std::uint64_t highest_ = 0;      ///< RACK.fack
  std::uint64_t dsack_round_ = 0;  ///< RACK.dsack_round
  std::uint32_t echo_ = 0;
  bool reordered_ = false;
};

}  // namespace outrider::tg
