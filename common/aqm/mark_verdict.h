#pragma once

#include <cstdint>

namespace outrider {

/// What a marker says of one packet. It says it without knowing whether the packet
/// is ECN-capable: the one that acts sets CE on ECT, never on Not-ECT (RFC 3168),
/// and a setting of the queue says whether Not-ECT passes or is dropped.
enum class MarkVerdict : std::uint8_t {
  kPass,
  kMark,  ///< congestion: CE on ECT, the queue's setting for Not-ECT
  kDrop,  ///< congestion that a mark no longer answers: dropped, ECT too
};

}  // namespace outrider
