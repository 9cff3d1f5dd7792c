#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Keeps what is in flight, and which segments of it have arrived or are lost. It implements RFC
/// 6675 with an incremental pipe and loss test. O(1) per segment sent, acknowledged or lost; a SACK
/// block costs only what it adds to the last ones.
///
/// The unit is the segment, not the byte: a segment is lost when DupThresh = 3 segments above it
/// are SACKed. As no segment exceeds SMSS, that includes "more than 2 * SMSS bytes SACKed above"
/// (section 4, IsLost). Deviation: segments need not be discontiguous, so three small ones count as
/// well.
///
/// pipe_bytes() is the sum of the lengths of segments that are neither SACKed nor (lost and not
/// resent), minus the departed bytes (without SACK). The memory is borrowed while something is in
/// flight, in a ring that doubles as the flight grows. Not thread-safe.
class Scoreboard {
 public:
  [[nodiscard]] bool empty() const noexcept { return segments() == 0; }
  [[nodiscard]] std::uint64_t segments() const noexcept {
    return flight_ == nullptr ? 0 : flight_->tail - flight_->head;
  }
  [[nodiscard]] std::uint32_t pipe_bytes() const noexcept { return pipe_; }
  /// Returns the number of segments that are lost and not yet resent.
  [[nodiscard]] std::uint32_t lost_pending() const noexcept { return lost_pending_; }
  /// Returns true if the oldest segment counts as lost, resent or not.
  [[nodiscard]] bool head_lost() const noexcept { return !empty() && at(flight_->head).lost; }
  [[nodiscard]] const SentSegment& segment(std::uint64_t i) const noexcept {
    assert(i < segments());
    return at(flight_->head + i);
  }
  /// Returns the borrowed memory; nullptr before the first push and after release().
  [[nodiscard]] Flight* flight() noexcept { return flight_; }
  [[nodiscard]] const Flight* flight() const noexcept { return flight_; }

  /// Returns true if another segment fits into the memory that is already borrowed.
  [[nodiscard]] bool has_room() const noexcept {
    return flight_ != nullptr && segments() <= flight_->mask;
  }
  enum class Room : std::uint8_t { kYes, kNoFlight, kNoSegments, kLimit };
  /// Like has_room(), but may borrow more. @param limit largest number of segments in flight
  [[nodiscard]] Room room(const TransportMemory& memory, std::uint32_t limit) const noexcept;

  /// Adds a segment of new data.
  /// @pre has_room() or room() == kYes, offset is the end of the last segment
  void push(TransportMemory& memory, std::uint64_t offset, std::uint32_t length,
            Time now) noexcept {
    assert(length > 0);
    if (!has_room()) [[unlikely]]
      make_room(memory);
    at(flight_->tail++) = {.offset = offset,
                           .sent_ns = now.time_since_epoch().count(),
                           .length = length,
                           .sacked = false,
                           .lost = false,
                           .resent = false,
                           .ever_resent = false};
    pipe_ += length;
  }
  /// Returns all borrowed memory. @pre everything is acknowledged, or the connection ends
  void release(TransportMemory& memory) noexcept;

  struct Acknowledged {
    std::uint32_t bytes = 0;        ///< bytes that SACK had not reported before
    std::optional<Time> sent_at{};  ///< departure of the oldest segment, if usable as RTT sample
  };
  /// Removes everything below `una`.
  Acknowledged acknowledge(std::uint64_t una) noexcept;

  /// Notes that [begin, end) has arrived, whole segments only.
  /// @return bytes that were not reported before
  std::uint32_t sack(std::uint64_t begin, std::uint64_t end) noexcept;

  /// Applies the loss test after a batch of sack() calls.
  void detect_losses() noexcept;

  /// The result of detect_losses_by_time().
  struct TimedLosses {
    bool waiting = false;                ///< an overtaken segment still has time
    std::int64_t resent_ns = INT64_MIN;  ///< last departure of a lost retransmission, if any
  };
  /// Marks as lost the overtaken segments whose time is over, retransmissions included (RFC 8985,
  /// 6.2, step 5). O(1) per segment lost, unless retransmissions are lost themselves.
  TimedLosses detect_losses_by_time(Time now, Duration window) noexcept;
  /// Marks losses at an RTO (RFC 8985, 6.3): the oldest segment, and others that left before `now -
  /// age`. Handles reneging as mark_all_lost() does.
  void mark_lost_by_age(Time now, Duration age) noexcept;

  /// Marks everything that is not SACKed as lost at an RTO, to be sent again. If the oldest segment
  /// is SACKed, the peer has reneged and no SACK counts (RFC 2018, 8).
  void mark_all_lost() noexcept;

  /// Resends the oldest segment that is lost and not resent (NextSeg rule 1); it leaves now.
  /// @pre lost_pending() > 0
  const SentSegment& resend(Time now) noexcept;
  /// Sends the newest segment once more, as a tail loss probe. @pre !empty()
  const SentSegment& resend_last(Time now) noexcept;
  // Without SACK, duplicate ACKs report that something has arrived, but not what. Its bytes,
  // "departed", are out of the pipe, except while an ACK is processed.
  /// Puts the departed bytes back into the pipe. @return how many there were
  std::uint32_t put_departed_back() noexcept;
  /// Takes that many bytes out of the pipe, at most all. @pre !empty(), none are departed
  void take_departed(std::uint32_t bytes) noexcept;
  /// Marks the oldest segment as lost. @pre !empty(), none are departed, it is not lost yet
  void lose_head() noexcept;
  [[nodiscard]] std::uint32_t sacked() const noexcept {
    return flight_ == nullptr ? 0 : flight_->sacked;
  }

 private:
  [[nodiscard]] SentSegment& at(std::uint64_t i) noexcept {
    return flight_->ring[i & flight_->mask];
  }
  [[nodiscard]] const SentSegment& at(std::uint64_t i) const noexcept {
    return flight_->ring[i & flight_->mask];
  }
  /// Returns the index of the first segment with offset >= `offset`, tail_ if there is none.
  [[nodiscard]] std::uint64_t find(std::uint64_t offset) const noexcept;
  [[nodiscard]] static bool in_pipe(const SentSegment& s) noexcept {
    return !s.sacked && (!s.lost || s.resent);
  }
  std::uint32_t sack_new(std::uint64_t begin, std::uint64_t end) noexcept;
  void note_highest(std::uint64_t index) noexcept;
  void lose(SentSegment& s) noexcept;
  bool forget_reneged() noexcept;
  void note_resent(std::uint64_t index) noexcept;
  TimedLosses detect_lost_resends(Time now, Duration window) noexcept;
  void forget(SentSegment& s) noexcept;  ///< takes it out of pipe and lost_pending

  void make_room(TransportMemory& memory) noexcept;

  Flight* flight_ = nullptr;
  std::uint32_t pipe_ = 0;
  std::uint32_t lost_pending_ = 0;
};

}  // namespace outrider::tg
