#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/base/timestamps.h"
#include "trafficgen/transport/memory/segment_arena.h"

namespace outrider::tg {

/// What RACK knows of a path's reordering: it outlives a flight.
struct ReorderMemory {
  static constexpr std::uint8_t kPersistence = 16;  ///< recoveries, RFC 8985, 6.2, step 4

  std::uint8_t quarters = 1;             ///< RACK.reo_wnd_mult: of the minimum round trip
  std::uint8_t recoveries_left : 5 = 0;  ///< RACK.reo_wnd_persist
  bool seen : 1 = false;                 ///< RACK.reordering_seen
};

/// Judges transmissions by when they left (RFC 8985, section 6.2): once one has
/// arrived, those that left before it must have arrived too, or within a reordering
/// window. Decides only; the Scoreboard keeps the segments and marks the lost ones.
///
/// Deviation: RACK.min_RTT is the minimum of this flight, as the windowed filter that
/// the RFC leaves open. Not thread-safe, O(1).
class Rack {
 public:
  static constexpr std::uint32_t kDupThresh = 3;

  /// One transmission. Ordered by departure, of equal times by stream offset: the
  /// RFC's RACK_sent_after().
  struct Departure {
    std::int64_t at_ns = INT64_MIN;
    std::uint64_t end = 0;
    auto operator<=>(const Departure&) const = default;
  };
  [[nodiscard]] static Departure departure(const SentSegment& s) noexcept {
    return {s.sent_ns, s.offset + s.length};
  }

  /// The acknowledgment that the next arrivals are of.
  /// @param echo TSecr, 0: none
  void begin_ack(Time now, std::uint32_t echo) noexcept {
    now_ = now;
    echo_ = echo;
  }

  /// Steps 1 to 3: `s` is newly acknowledged, cumulatively or by SACK.
  void on_arrived(const SentSegment& s) noexcept {
    const Departure sent = departure(s);
    const Duration rtt = now_ - Time{Duration{sent.at_ns}};
    const std::uint64_t highest = highest_;
    highest_ = std::max(highest_, sent.end);
    if (!s.ever_resent) {
      min_rtt_ = std::min(min_rtt_, rtt);
      if (sent.end < highest) reordered_ = true;
    } else if (of_earlier_transmission(sent, rtt)) {
      return;
    }
    if (latest_ < sent) {
      latest_ = sent;
      rtt_ = rtt;
    }
  }

  /// Step 4, first half: at most one widening per round trip. @param una,nxt offsets
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

  /// Step 4, second half. @param sacked segments now
  [[nodiscard]] Duration reorder_window(const ReorderMemory& memory, bool recovering,
                                        std::uint32_t sacked, Duration srtt) const noexcept {
    if (!memory.seen && (recovering || sacked >= kDupThresh)) return Duration::zero();
    if (min_rtt_ == Duration::max()) return Duration::zero();
    return std::min(memory.quarters * min_rtt_ / 4, srtt);
  }

  /// Left before something that has arrived?
  [[nodiscard]] bool overtaken(const SentSegment& s) const noexcept {
    return departure(s) < latest_;
  }
  /// Step 5: an overtaken segment is lost from then on.
  [[nodiscard]] Time lost_at(const SentSegment& s, Duration window) const noexcept {
    return Time{Duration{s.sent_ns}} + rtt_ + window;
  }
  /// No overtaken segment is given longer. @pre something has arrived
  [[nodiscard]] Time last_lost_at(Duration window) const noexcept {
    return Time{Duration{latest_.at_ns}} + rtt_ + window;
  }
  /// Has this flight shown reordering?
  [[nodiscard]] bool reordered() const noexcept { return reordered_; }
  /// Round trip of the transmission that left last of those that arrived.
  [[nodiscard]] Duration rtt() const noexcept { return rtt_; }

 private:
  /// A retransmission cannot have come back yet: its ACK is for what was sent before.
  [[nodiscard]] bool of_earlier_transmission(const Departure& sent, Duration rtt) const noexcept {
    const std::uint32_t tick = TimestampClock::at(Time{Duration{sent.at_ns}});
    if (echo_ != 0 && TimestampClock::before(echo_, tick)) return true;
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
