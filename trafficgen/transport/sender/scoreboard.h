#pragma once

#include <cassert>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// What is in flight, what of it has arrived, what is lost: RFC 6675 with its
/// pipe and its loss test kept incrementally. O(1) per segment sent, acknowledged
/// or lost; SACK blocks cost only what they add to the last ones.
///
/// Segments, not bytes, are the unit: DupThresh = 3 SACKed segments above make
/// one lost. As no segment exceeds SMSS, that includes "more than 2 * SMSS bytes
/// SACKed above" (section 4, IsLost). Deviation: segments need not be
/// discontiguous, so three small ones count as well.
///
/// pipe_bytes() is the sum of the lengths of segments that are neither SACKed
/// nor (lost and not resent), less what departed without SACK. Its memory is borrowed while
/// something is in flight, in a ring that doubles as the flight grows. Not thread-safe.
class Scoreboard {
 public:
  [[nodiscard]] bool empty() const noexcept { return segments() == 0; }
  [[nodiscard]] std::uint64_t segments() const noexcept {
    return flight_ == nullptr ? 0 : flight_->tail - flight_->head;
  }
  [[nodiscard]] std::uint32_t pipe_bytes() const noexcept { return pipe_; }
  /// Segments that are lost and not resent yet.
  [[nodiscard]] std::uint32_t lost_pending() const noexcept { return lost_pending_; }
  /// Is the oldest segment taken for lost, resent or not?
  [[nodiscard]] bool head_lost() const noexcept { return !empty() && at(flight_->head).lost; }
  [[nodiscard]] const SentSegment& segment(std::uint64_t i) const noexcept {
    assert(i < segments());
    return at(flight_->head + i);
  }
  /// What is borrowed, nullptr before the first push and after release().
  [[nodiscard]] Flight* flight() noexcept { return flight_; }
  [[nodiscard]] const Flight* flight() const noexcept { return flight_; }

  /// Can another segment be pushed into what is borrowed already?
  [[nodiscard]] bool has_room() const noexcept {
    return flight_ != nullptr && segments() <= flight_->mask;
  }
  enum class Room : std::uint8_t { kYes, kNoFlight, kNoSegments, kLimit };
  /// The same, if the memory may be asked. @param limit of segments in flight
  [[nodiscard]] Room room(const TransportMemory& memory, std::uint32_t limit) const noexcept;

  /// Takes note of new data.
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
  /// Gives everything back. @pre everything is acknowledged, or the connection ends
  void release(TransportMemory& memory) noexcept;

  struct Acknowledged {
    std::uint32_t bytes = 0;        ///< that SACK had not reported before
    std::optional<Time> sent_at{};  ///< of the oldest one, if fit for an RTT sample
  };
  /// Removes everything below `una`.
  Acknowledged acknowledge(std::uint64_t una) noexcept;

  /// Takes note that [begin, end) has arrived, whole segments only.
  /// @return bytes that were not reported before
  std::uint32_t sack(std::uint64_t begin, std::uint64_t end) noexcept;

  /// Applies the loss test after a batch of sack() calls.
  void detect_losses() noexcept;

  /// What detect_losses_by_time() found.
  struct TimedLosses {
    bool waiting = false;                ///< an overtaken segment still has time
    std::int64_t resent_ns = INT64_MIN;  ///< a retransmission is lost: when it left, the last one
  };
  /// RFC 8985, 6.2, step 5: what is overtaken and out of time is lost, retransmissions
  /// as well. O(1) per segment lost while retransmissions are not lost themselves.
  TimedLosses detect_losses_by_time(Time now, Duration window) noexcept;
  /// RTO (RFC 8985, 6.3): the oldest segment is lost, and others that left before
  /// `now - age`. Reneging as below.
  void mark_lost_by_age(Time now, Duration age) noexcept;

  /// RTO: everything that is not SACKed is lost and shall be sent again. If the
  /// oldest segment is SACKed the peer has reneged, and no SACK counts (RFC 2018, 8).
  void mark_all_lost() noexcept;

  /// NextSeg rule 1: the oldest segment that is lost and not resent leaves now.
  /// @pre lost_pending() > 0
  const SentSegment& resend(Time now) noexcept;
  /// The newest segment leaves once more, as a tail loss probe. @pre !empty()
  const SentSegment& resend_last(Time now) noexcept;
  // Without SACK: duplicate ACKs tell that something has arrived, and not what. Its bytes
  // are out of the pipe but for the time in which an ACK is taken in.
  /// Puts them back into the pipe. @return how many there were
  std::uint32_t put_departed_back() noexcept;
  /// Takes so many bytes out of the pipe, at most all. @pre !empty(), none are out
  void take_departed(std::uint32_t bytes) noexcept;
  /// The oldest segment is lost. @pre !empty(), none are departed, it is not lost yet
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
  /// Index of the first segment with offset >= `offset`, tail_ if there is none.
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
  void forget(SentSegment& s) noexcept;  ///< takes its part out of pipe and lost_pending

  void make_room(TransportMemory& memory) noexcept;

  Flight* flight_ = nullptr;
  std::uint32_t pipe_ = 0;
  std::uint32_t lost_pending_ = 0;
};

}  // namespace outrider::tg
