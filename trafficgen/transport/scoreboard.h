#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/clock.h"

namespace outrider {

/// A segment between its first transmission and its cumulative acknowledgment.
/// No default member values: the ring's memory is touched when it is used.
struct SentSegment {
  std::uint64_t offset;  ///< stream offset
  std::int64_t sent_ns;  ///< first transmission, or the last one if resent
  std::uint32_t length;  ///< bytes of sequence space, a FIN counts one
  bool sacked;           ///< reported by SACK
  bool lost;             ///< taken for lost; implies !sacked
  bool resent;           ///< since it was taken for lost; implies lost
  bool ever_resent;      ///< no RTT sample (Karn)
};

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
/// nor (lost and not resent). Not thread-safe; nothing allocates after construction.
class Scoreboard {
 public:
  /// @param slots segments that may be in flight, a power of two
  explicit Scoreboard(std::uint32_t slots);

  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] bool full() const noexcept { return tail_ - head_ > mask_; }
  [[nodiscard]] std::uint64_t segments() const noexcept { return tail_ - head_; }
  [[nodiscard]] std::uint32_t pipe_bytes() const noexcept { return pipe_; }
  /// Segments that are lost and not resent yet.
  [[nodiscard]] std::uint32_t lost_pending() const noexcept { return lost_pending_; }
  /// Is the oldest segment taken for lost, resent or not?
  [[nodiscard]] bool head_lost() const noexcept { return !empty() && at(head_).lost; }
  [[nodiscard]] const SentSegment& segment(std::uint64_t i) const noexcept {
    assert(i < segments());
    return at(head_ + i);
  }

  /// Takes note of new data. @pre !full(), offset is the end of the last segment
  void push(std::uint64_t offset, std::uint32_t length, Time now) noexcept {
    assert(!full() && length > 0);
    ring_[tail_++ & mask_] = {.offset = offset,
                              .sent_ns = now.time_since_epoch().count(),
                              .length = length,
                              .sacked = false,
                              .lost = false,
                              .resent = false,
                              .ever_resent = false};
    pipe_ += length;
  }

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

  /// RTO: everything that is not SACKed is lost and shall be sent again. If the
  /// oldest segment is SACKed the peer has reneged, and no SACK counts (RFC 2018, 8).
  void mark_all_lost() noexcept;

  /// NextSeg rule 1: the oldest segment that is lost and not resent leaves now.
  /// @pre lost_pending() > 0
  const SentSegment& resend(Time now) noexcept;

 private:
  static constexpr std::size_t kDupThresh = 3;
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  [[nodiscard]] SentSegment& at(std::uint64_t i) noexcept { return ring_[i & mask_]; }
  [[nodiscard]] const SentSegment& at(std::uint64_t i) const noexcept { return ring_[i & mask_]; }
  /// Index of the first segment with offset >= `offset`, tail_ if there is none.
  [[nodiscard]] std::uint64_t find(std::uint64_t offset) const noexcept;
  [[nodiscard]] static bool in_pipe(const SentSegment& s) noexcept {
    return !s.sacked && (!s.lost || s.resent);
  }
  std::uint32_t sack_new(std::uint64_t begin, std::uint64_t end) noexcept;
  void note_highest(std::uint64_t index) noexcept;
  void forget(SentSegment& s) noexcept;  ///< takes its part out of pipe and lost_pending

  std::unique_ptr<SentSegment[]> ring_;
  std::uint64_t mask_;
  std::uint64_t head_ = 0, tail_ = 0;  ///< free-running indices
  std::uint32_t pipe_ = 0;
  std::uint32_t lost_pending_ = 0;
  std::uint64_t loss_edge_ = 0;                      ///< every un-SACKed segment below it is lost
  std::uint64_t resend_from_ = 0;                    ///< none below it waits to be resent
  std::array<std::uint64_t, kDupThresh> highest_{};  ///< 1 + index of the highest SACKed, 0: none
  std::array<Range, 4> seen_{};  ///< blocks of late, to look only at what they add
  std::size_t seen_next_ = 0;
};

}  // namespace outrider
