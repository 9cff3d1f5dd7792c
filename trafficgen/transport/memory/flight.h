#pragma once

#include <array>
#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/newreno.h"
#include "trafficgen/transport/memory/rack.h"
#include "trafficgen/transport/memory/segment_arena.h"

namespace outrider::tg {

/// What a sender needs only while something is in flight. Borrowed from
/// TransportMemory with the first segment and given back when all is
/// acknowledged; each group of members belongs to the classes that it names.
struct Flight {
  static constexpr std::uint32_t kOwnSegments = 8;  ///< room before the arena is asked
  static constexpr std::size_t kDupThresh = NewReno::kDupThresh;
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  Flight() noexcept {}  // not = default: the ring is touched as it is used

  // -- Scoreboard: every segment touches these
  SentSegment* ring = own;
  std::uint32_t mask = kOwnSegments - 1;
  std::uint64_t head = 0;  ///< free-running index of the oldest segment
  std::uint64_t tail = 0;
  std::uint64_t loss_edge = 0;    ///< every un-SACKed segment below it is lost
  std::uint64_t resend_from = 0;  ///< none below it waits to be resent

  // -- CongestionWindow, Recovery: stream offsets
  std::uint64_t window_full_until = 0;  ///< data below it left when the window was full
  std::uint64_t reduced_until = 0;      ///< data below it left before the last reduction

  std::uint64_t recovery_point = 0;
  std::array<std::uint64_t, kDupThresh> highest{};  ///< 1 + index of highest SACKed, 0: none
  std::array<Range, 4> seen{};  ///< SACK blocks of late, to look only at what they add
  std::uint32_t seen_next = 0;

  // -- NewReno (RFC 6582), without SACK
  NewReno newreno;
  std::uint32_t departed = 0;  ///< bytes that duplicate ACKs tell to have arrived: not in the pipe

  // -- Scoreboard, RackDetector, TailLossProbe, RetransmissionTimer: RFC 8985, if in use
  enum class Aux : std::uint8_t { kNone, kReorder, kProbe };
  bool by_time = false;                 ///< losses are told by `rack`
  bool resent_in_order = true;          ///< within [resent_first, resent_end), departures too
  Aux aux = Aux::kNone;                 ///< what aux_at is of
  bool probe_resent = false;            ///< TLP.is_retrans
  std::uint32_t sacked = 0;             ///< segments
  std::uint64_t resent_first = 0;       ///< no segment that was resent and still counts lies
  std::uint64_t resent_end = 0;         ///< outside of these indices; empty if first >= end
  std::uint64_t probe_end = 0;          ///< TLP.end_seq as stream offset, 0: none
  std::int64_t reduced_ns = INT64_MIN;  ///< when the window was last reduced
  Time rto_at = kNever;                 ///< the sender's deadline is the earlier one of these
  Time aux_at = kNever;
  Rack rack;

  SentSegment own[kOwnSegments];
};

}  // namespace outrider::tg
