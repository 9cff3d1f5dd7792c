#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trafficgen/policy/send_policy.h"

namespace outrider {

/// A piece of a backward pass that a test writes out. Its index is its position in the list.
struct ReadyPiece {
  std::int64_t at_us = 0;  ///< when it is ready, from the begin of the iteration
  std::uint32_t tensor = 0;
  std::uint64_t bytes = 0;
  std::uint32_t target = 0;
};

struct HandedOut {
  std::int64_t at_us = 0;
  std::uint32_t piece = 0;
  bool operator==(const HandedOut&) const = default;
};
std::string to_string(const HandedOut& h);
void PrintTo(const HandedOut& h, std::ostream* out);  // NOLINT(*-naming): GoogleTest's name

/// One link of 1 byte per microsecond, or slower, to all targets, which sends segments in the order
/// in which they are handed out. A segment is acknowledged as a whole, `ack_us` after its last
/// byte.
struct TimelineLink {
  std::int64_t ack_us = 0;
  std::int64_t us_per_byte = 1;
  /// Called before each piece leaves, with the pieces that are ready and have not left, this
  /// one included.
  std::function<void(const std::vector<std::uint32_t>& ready, const tg::PushSegment& leaves,
                     std::uint64_t unacknowledged_bytes)>
      on_hand_out{};
};

/// Plays one iteration from `begin_us` until nothing more happens. Simultaneous events are
/// ordered: acknowledgments, then readiness, then wake_at().
/// @param pieces  in the order in which they are ready
std::vector<HandedOut> play(tg::SendPolicy& policy, const std::vector<ReadyPiece>& pieces,
                            const TimelineLink& link = {}, std::int64_t begin_us = 0);

/// Returns the pieces in the form that a policy gets.
std::vector<tg::GradientPiece> gradient_pieces(const std::vector<ReadyPiece>& pieces);

}  // namespace outrider
