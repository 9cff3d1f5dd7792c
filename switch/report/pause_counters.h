#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::sw {

/// Counters of priority flow control at one queue. The first four are about packets that came by
/// its port, the others about packets that leave by it. A frame may tell of several queues.
struct PauseCounters {
  std::uint64_t pauses_sent = 0;   ///< renewals included
  std::uint64_t resumes_sent = 0;  ///< before the pause was over
  std::uint64_t held_bytes = 0;    ///< that came by the port and have not left the switch
  std::uint64_t most_held_bytes = 0;
  std::uint64_t pauses_received = 0;  ///< renewals included
  std::uint64_t resumes_received = 0;
  std::uint64_t paused_ns = 0;          ///< time in which the neighbour's pause was in force
  std::uint64_t watchdog_releases = 0;  ///< pauses that lasted too long
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PauseCounters>
void fields(V& v, R& r) {
  v.value(counter("pauses_sent", "pauses", "Pauses that the neighbour was asked for, and renewals"),
          r.pauses_sent);
  v.value(counter("resumes_sent", "messages", "Times that the neighbour was told to go on"),
          r.resumes_sent);
  v.value(gauge("held_bytes", "bytes", "Bytes that came by the port and are in the switch"),
          r.held_bytes);
  v.value(gauge("most_held_bytes", "bytes", "Most bytes that came by the port and were here"),
          r.most_held_bytes);
  v.value(counter("pauses_received", "pauses", "Pauses that the neighbour asked for, and renewals"),
          r.pauses_received);
  v.value(counter("resumes_received", "messages", "Times that the neighbour said to go on"),
          r.resumes_received);
  v.value(counter("paused_ns", "ns", "Time in which the neighbour's pause was in force"),
          r.paused_ns);
  v.value(counter("watchdog_releases", "pauses", "Pauses that lasted too long"),
          r.watchdog_releases);
}

/// Pauses of a queue; zeros unless it is lossless.
struct PauseFigures {
  PauseCounters pause{};
  /// Pause frames that the port made, counted with queue 0, there as signals too.
  std::uint64_t pause_frames = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PauseFigures>
void fields(V& v, R& r) {
  v.value("pause", r.pause);
  v.value(counter("pause_frames", "packets", "Pause frames that the port made; with queue 0"),
          r.pause_frames);
}

}  // namespace outrider::sw
