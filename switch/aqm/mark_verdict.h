#pragma once

#include <cstdint>

namespace outrider {

/// The decision of a marker on one packet, independent of whether the packet is ECN-capable.
/// The caller sets CE on ECT, never on Not-ECT (RFC 3168); a setting of the queue says
/// whether Not-ECT packets pass or are dropped.
enum class MarkVerdict : std::uint8_t {
  kPass,
  kMark,  ///< congestion: CE on ECT, the queue's setting decides on Not-ECT
  kDrop,  ///< congestion beyond what marks can solve: ECT packets are dropped too
};

}  // namespace outrider
