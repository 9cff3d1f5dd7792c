#pragma once

#include <array>
#include <cstdint>

#include "trafficgen/transport/segment_arena.h"

namespace outrider {

/// What a sender needs only while something is in flight. Borrowed from
/// TransportMemory with the first segment and given back when all is
/// acknowledged; TcpSender and Scoreboard say what the members mean.
struct Flight {
  static constexpr std::uint32_t kOwnSegments = 8;  ///< room before the arena is asked
  static constexpr std::size_t kDupThresh = 3;
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  Flight() noexcept {}  // not = default: the ring is touched as it is used

  // -- the scoreboard: every segment touches these
  SentSegment* ring = own;
  std::uint32_t mask = kOwnSegments - 1;
  std::uint64_t head = 0;  ///< free-running index of the oldest segment
  std::uint64_t tail = 0;
  std::uint64_t loss_edge = 0;    ///< every un-SACKed segment below it is lost
  std::uint64_t resend_from = 0;  ///< none below it waits to be resent

  // -- the sender: stream offsets
  std::uint64_t window_full_until = 0;  ///< data below it left when the window was full
  std::uint64_t reduced_until = 0;      ///< data below it left before the last reduction

  std::uint64_t recovery_point = 0;
  std::array<std::uint64_t, kDupThresh> highest{};  ///< 1 + index of highest SACKed, 0: none
  std::array<Range, 4> seen{};  ///< SACK blocks of late, to look only at what they add
  std::uint32_t seen_next = 0;

  SentSegment own[kOwnSegments];
};

}  // namespace outrider
