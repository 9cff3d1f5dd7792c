#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::sw {

/// The counters of steering, at the queue that packets are taken from. Identities:
/// followed + no_room == starts_armed of the queue's regulator;
/// packets + after_end == packets that arrived at the target queue from here.
struct SteerCounters {
  std::uint64_t followed = 0;   ///< armed STARTs whose flow is followed
  std::uint64_t no_room = 0;    ///< armed STARTs whose flow found no place: it stays
  std::uint64_t moves = 0;      ///< times that a flow went over to the target queue
  std::uint64_t packets = 0;    ///< packets of announced bursts that went to the target queue
  std::uint64_t after_end = 0;  ///< packets that followed them there after the entry's end
  std::uint64_t stayed = 0;     ///< packets of bursts that stayed behind packets of their flow
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SteerCounters>
void fields(V& v, R& r) {
  v.value(counter("followed", "starts", "Armed announcements whose flow is followed"), r.followed);
  v.value(counter("no_room", "starts", "Armed announcements whose flow found no place"), r.no_room);
  v.value(counter("moves", "moves", "Times that a flow went over to the target queue"), r.moves);
  v.value(counter("packets", "packets", "Packets of bursts that went to the target queue"),
          r.packets);
  v.value(counter("after_end", "packets", "Packets that followed a burst there after its end"),
          r.after_end);
  v.value(counter("stayed", "packets", "Packets of bursts that stayed behind their flow's packets"),
          r.stayed);
}

/// Steering of a queue; zeros unless its mode steers.
struct SteerFigures {
  SteerCounters steer{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, SteerFigures>
void fields(V& v, R& r) { v.value("steer", r.steer); }

}  // namespace outrider::sw
