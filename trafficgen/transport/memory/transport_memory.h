#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/transport/memory/challenge_acks.h"
#include "trafficgen/transport/memory/disorder.h"
#include "trafficgen/transport/memory/flight.h"
#include "trafficgen/transport/memory/object_pool.h"
#include "trafficgen/transport/memory/segment_arena.h"

namespace outrider::tg {

/// Counts how often a connection found a pool empty.
struct TransportMemoryCounters {
  std::uint64_t flights_exhausted = 0;    ///< a sender without anything in flight waits
  std::uint64_t segments_exhausted = 0;   ///< a flight cannot grow: it waits for its ACKs
  std::uint64_t disorders_exhausted = 0;  ///< data out of order refused, or echoes merged
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TransportMemoryCounters>
void fields(V& v, R& r) {
  v.value(counter("flights_exhausted", "times", "Times that a sender found no flight and waited"),
          r.flights_exhausted);
  v.value(counter("segments_exhausted", "times", "Times that a flight could not grow and waited"),
          r.segments_exhausted);
  v.value(counter("disorders_exhausted", "times",
                  "Times that data out of order was refused, or echoes merged"),
          r.disorders_exhausted);
}

/// Memory that connections borrow while they need it, so that an idle connection is small. One
/// lcore owns it together with its connections, which it outlives.
///
/// Everything is reserved at construction and touched only when used. A flight takes 512 bytes with
/// room for 8 segments; a larger flight takes 24 bytes per segment of a ring that doubles. A
/// disorder takes 1.8 kB.
class TransportMemory {
 public:
  struct Setup {
    std::uint32_t flights = 1024;       ///< senders with data in flight at once, > 0
    std::uint32_t segments = 1U << 16;  ///< for flights of more than 8 segments, > 0
    std::uint32_t disorders = 1024;     ///< receivers with data out of order at once, > 0
    auto operator<=>(const Setup&) const = default;
  };
  explicit TransportMemory(const Setup& setup)
      : flights(setup.flights), segments(setup.segments), disorders(setup.disorders) {}

  ObjectPool<Flight> flights;
  SegmentArena segments;
  ObjectPool<Disorder> disorders;
  TransportMemoryCounters counters;
  TcpEvents events;
  ChallengeAcks challenge_acks;
};

}  // namespace outrider::tg
