#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::sw {

/// The counters of demotion, at the queue whose flows go first to another one.
struct DemotionCounters {
  std::uint64_t flows = 0;    ///< that began, or began again after they were idle
  std::uint64_t early = 0;    ///< packets with payload that went to the other queue
  std::uint64_t empty = 0;    ///< packets without payload, which always go there
  std::uint64_t demoted = 0;  ///< flows that have gone on in their own queue
  std::uint64_t no_room = 0;  ///< packets that stayed because their flow found no place
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, DemotionCounters>
void fields(V& v, R& r) {
  v.value(counter("flows", "flows", "Flows that began, or began again after they were idle"),
          r.flows);
  v.value(counter("early", "packets", "Packets with payload that went to the other queue"),
          r.early);
  v.value(counter("empty", "packets", "Packets without payload, which always go there"), r.empty);
  v.value(counter("demoted", "flows", "Flows that have gone on in their own queue"), r.demoted);
  v.value(counter("no_room", "packets", "Packets that stayed because their flow found no place"),
          r.no_room);
}

/// Demotion of a queue; zeros without it.
struct DemotionFigures {
  DemotionCounters demotion{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, DemotionFigures>
void fields(V& v, R& r) { v.value("demotion", r.demotion); }

}  // namespace outrider::sw
