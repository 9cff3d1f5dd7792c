#pragma once

#include <cstdint>

namespace outrider {

/// What pacing did. Identity: held == released_room + released_floor + released_end +
/// pushed_out + the packets held now.
struct PaceCounters {
  std::uint64_t held = 0;            ///< packets that had to wait before the queue
  std::uint64_t released_room = 0;   ///< the queue had fallen below the target
  std::uint64_t released_floor = 0;  ///< the background's floor was due
  std::uint64_t released_end = 0;    ///< regulation was over
  std::uint64_t pushed_out = 0;      ///< dropped: a burst needed the room
  std::uint64_t held_ns = 0;         ///< sum of what they waited here
  std::uint32_t max_held = 0;        ///< packets
};

}  // namespace outrider
