#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::tg {

/// The counts of one [[capture]]. Identity: received <= sent; what is missing was dropped by a
/// switch or is on the way.
struct CaptureCounts {
  std::uint64_t frames = 0;  ///< of the file
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< of frames
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t latest_ns = 0;  ///< by which a frame left later than it was due, at most
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, CaptureCounts>
void fields(V& v, R& r) {
  v.value("frames", r.frames);
  v.value(counter("sent", "frames", "Frames of the capture that left").as("sent_frames"), r.sent);
  v.value(counter("sent_bytes", "bytes", "Bytes of these frames"), r.sent_bytes);
  v.value(counter("received", "frames", "Frames of the capture that arrived").as("received_frames"),
          r.received);
  v.value(counter("received_bytes", "bytes", "Bytes of these frames"), r.received_bytes);
  v.value(gauge("latest_ns", "ns", "Longest time by which a frame left later than it was due"),
          r.latest_ns);
}

struct CaptureReport : CaptureCounts {
  std::string name;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, CaptureReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  fields(v, base_of<CaptureCounts>(r));
}

}  // namespace outrider::tg
