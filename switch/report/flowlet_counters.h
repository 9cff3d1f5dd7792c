#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::sw {

/// The counters of flowlets. Packets of a known flow within its gap are in none of them.
struct FlowletCounters {
  std::uint64_t flowlets_begun = 0;    ///< packets that began one: of a new flow, or after a gap
  std::uint64_t flowlets_no_room = 0;  ///< packets whose flow found no place: they went by hash
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowletCounters>
void fields(V& v, R& r) {
  v.value(counter("flowlets_begun", "flowlets", "Flowlets, each of which chose a path"),
          r.flowlets_begun);
  v.value(counter("flowlets_no_room", "packets", "Packets of flows that found no place: by hash"),
          r.flowlets_no_room);
}

}  // namespace outrider::sw
