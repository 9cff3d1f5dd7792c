#pragma once

#include <cstdint>

namespace outrider {

/// What a round's flows were told together: what window_lead() needs to know of them.
struct ToldWindows {
  std::uint32_t flows = 0;
  double queue_bytes = 0;  ///< of all their windows, as the queue counts frames
  double frame_bytes = 0;  ///< of a full segment of each
  double rtt_ns = 0;       ///< of each, without queueing

  void add(double window_bytes, double of_frame, double of_rtt_ns) noexcept {
    ++flows;
    queue_bytes += window_bytes;
    frame_bytes += of_frame;
    rtt_ns += of_rtt_ns;
  }
};

}  // namespace outrider
