#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/transport_memory.h"
#include "trafficgen/transport/sender/segment_ring.h"

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
/// resent), minus the departed bytes (without SACK). Not thread-safe.
class Scoreboard {
 public:
  /// Returns what is in flight, and the memory for it.
  [[nodiscard]] const SegmentRing& segments() const noexcept { return ring_; }
  [[nodiscard]] bool empty() const noexcept { return ring_.empty(); }
  [[nodiscard]] std::uint32_t pipe_bytes() const noexcept { return pipe_; }
  /// Returns the number of segments that are lost and not yet resent.
  [[nodiscard]] std::uint32_t lost_pending() const noexcept { return lost_pending_; }
  /// Returns true if the oldest segment counts as lost, resent or not.
  [[nodiscard]] bool head_lost() const noexcept { return !empty() && ring_.oldest().lost; }
  /// Returns the number of segments that are SACKed.
  [[nodiscard]] std::uint32_t sacked() const noexcept {
    return flight() == nullptr ? 0 : flight()->sacked;
  }
  /// See SegmentRing::flight().
  [[nodiscard]] Flight* flight() noexcept { return ring_.flight(); }
  [[nodiscard]] const Flight* flight() const noexcept { return ring_.flight(); }

  /// Adds a segment of new data. @pre see SegmentRing::push()
  void push(TransportMemory& memory, std::uint64_t offset, std::uint32_t length,
            Time now) noexcept {
    ring_.push(memory, {.offset = offset,
                        .sent_ns = now.time_since_epoch().count(),
                        .length = length,
                        .sacked = false,
                        .lost = false,
                        .resent = false,
                        .ever_resent = false});
    pipe_ += length;
  }
  /// Returns all borrowed memory. @pre everything is acknowledged, or the connection ends
  void release(TransportMemory& memory) noexcept {
    ring_.release(memory);
    pipe_ = 0;
    lost_pending_ = 0;
  }

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

 private:
  std::uint32_t sack_new(std::uint64_t begin, std::uint64_t end) noexcept;
  void lose(SentSegment& s) noexcept;
  TimedLosses detect_lost_resends(Time now, Duration window) noexcept;
  void forget(SentSegment& s) noexcept;  ///< takes it out of pipe and lost_pending

  SegmentRing ring_;
  std::uint32_t pipe_ = 0;
  std::uint32_t lost_pending_ = 0;
};

}  // namespace outrider::tg
