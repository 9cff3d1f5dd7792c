#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/core/clock.h"
#include "trafficgen/transport/memory/newreno.h"
#include "trafficgen/transport/memory/rack.h"
#include "trafficgen/transport/memory/rate_reduction.h"
#include "trafficgen/transport/memory/segment_arena.h"

namespace outrider::tg {

/// State that a sender needs only while something is in flight. It is borrowed from TransportMemory
/// with the first segment and given back when all is acknowledged. Each group of members belongs to
/// the classes that its heading names.
struct Flight {
  static constexpr std::uint32_t kOwnSegments = 8;  ///< in `own`; more come from the arena
  static constexpr std::size_t kDupThresh = NewReno::kDupThresh;
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  Flight() noexcept {}  // not = default: the ring is left untouched until used

  // -- Scoreboard: every segment touches these
  SentSegment* ring = own;
  std::uint32_t mask = kOwnSegments - 1;
  std::uint64_t head = 0;  ///< free-running index of the oldest segment
  std::uint64_t tail = 0;
  std::uint64_t loss_edge = 0;    ///< every segment below it is SACKed or lost
  std::uint64_t resend_from = 0;  ///< no segment below it waits to be resent

  // -- CongestionWindow, LossRecovery: stream offsets
  std::uint64_t window_full_until = 0;  ///< data below it left when the window was full;
                                        ///< WindowValidation: end of the round trip
  std::uint64_t reduced_until = 0;      ///< data below it left before the last reduction

  std::uint64_t recovery_point = 0;
  std::array<std::uint64_t, kDupThresh> highest{};  ///< 1 + index of highest SACKed, 0: none
  std::array<Range, 4> seen{};  ///< recent SACK blocks, to process only what is new
  std::uint32_t seen_next = 0;
  std::uint32_t most_outstanding_bytes = 0;  ///< WindowValidation: in this round trip
  bool window_full = false;                  ///< WindowValidation: in this round trip
  std::uint8_t burst_left = 0;  ///< SegmentBursts: segments that may leave with the last

  // -- CongestionWindow, while a window is reduced step by step
  RateReduction reduction;
  std::uint32_t losses_judged = 0;  ///< of `losses`, at the last acknowledgment

  std::uint32_t losses = 0;  ///< Scoreboard: how often a segment was found lost

  // -- NewReno (RFC 6582), without SACK
  NewReno newreno;
  std::uint32_t departed = 0;  ///< bytes that arrived according to duplicate ACKs; not in the pipe

  // -- Scoreboard, RackDetector, TailLossProbe, RetransmissionTimer: RFC 8985, if in use
  enum class Aux : std::uint8_t { kNone, kReorder, kProbe };
  bool by_time = false;                 ///< `rack` detects the losses
  bool resent_in_order = true;          ///< within [resent_first, resent_end), also by departure
  Aux aux = Aux::kNone;                 ///< kind of timer that aux_at is
  bool probe_resent = false;            ///< TLP.is_retrans
  std::uint32_t sacked = 0;             ///< segments
  std::uint64_t resent_first = 0;       ///< all segments that were resent and still count lie
  std::uint64_t resent_end = 0;         ///< within these indices; empty if first >= end
  std::uint64_t probe_end = 0;          ///< TLP.end_seq as stream offset, 0: none
  std::int64_t reduced_ns = INT64_MIN;  ///< when the window was last reduced
  Time rto_at = kNever;                 ///< the sender's deadline is the earlier one of the two
  Time aux_at = kNever;
  Rack rack;

  SentSegment own[kOwnSegments];
};

/// Starts to fetch a flight, if there is one.
inline void prefetch(const Flight* flight) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(flight);
  if (bytes == nullptr) return;
  for (std::size_t i = 0; i < 256; i += 64) __builtin_prefetch(bytes + i, 1);
}

}  // namespace outrider::tg
