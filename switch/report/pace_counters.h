#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::sw {

/// The counters of pacing. Identity: held == released_room + released_floor + released_end +
/// pushed_out + the packets held now.
struct PaceCounters {
  std::uint64_t held = 0;            ///< packets that had to wait before the queue
  std::uint64_t released_room = 0;   ///< let in because the queue was below the target
  std::uint64_t released_floor = 0;  ///< let in because the background's floor was due
  std::uint64_t released_end = 0;    ///< let in because regulation was over
  std::uint64_t pushed_out = 0;      ///< dropped because a burst needed the room
  std::uint64_t held_ns = 0;         ///< time that they were held, summed over packets
  std::uint64_t max_held = 0;        ///< most packets held at once
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PaceCounters>
void fields(V& v, R& r) {
  v.value(counter("held", "packets", "Packets that had to wait before the queue"), r.held);
  v.value(counter("released_room", "packets", "Held packets let in: the queue had room"),
          r.released_room);
  v.value(counter("released_floor", "packets", "Held packets let in: background's floor was due"),
          r.released_floor);
  v.value(counter("released_end", "packets", "Held packets let in: regulation was over"),
          r.released_end);
  v.value(counter("pushed_out", "packets", "Held packets dropped: a burst needed the room"),
          r.pushed_out);
  v.value(counter("held_ns", "ns", "Time that packets were held, summed over them"), r.held_ns);
  v.value(gauge("max_held", "packets", "Most packets held at once"), r.max_held);
}

/// Pacing of a queue; zeros unless its mode paces.
struct PaceFigures {
  PaceCounters pace{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PaceFigures>
void fields(V& v, R& r) { v.value("pace", r.pace); }

}  // namespace outrider::sw
