#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace outrider::tg {

/// The counts of one [[capture]]. Identity: received <= sent; what is missing was dropped by a
/// switch or is on the way.
struct CaptureReport {
  std::string name;
  std::uint64_t frames = 0;  ///< of the file
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< of frames
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t latest_ns = 0;  ///< by which a frame left later than it was due, at most
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, CaptureReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("frames", r.frames);
  v.value("sent", r.sent);
  v.value("sent_bytes", r.sent_bytes);
  v.value("received", r.received);
  v.value("received_bytes", r.received_bytes);
  v.value("latest_ns", r.latest_ns);
}

}  // namespace outrider::tg
