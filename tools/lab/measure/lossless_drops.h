#pragma once

#include <cstdint>

#include "switch/report/report.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Packets of lossless classes (PFC) that switches dropped, by what let them. Losses that a link
/// was asked for are in none of them.
struct LosslessDrops {
  std::uint64_t headroom = 0;  ///< a neighbour sent on for longer than the headroom holds
  std::uint64_t watchdog = 0;  ///< a pause was too long
  std::uint64_t queue = 0;     ///< limits of the queue or of the shared buffer, or its marker
};

LosslessDrops lossless_drops(const Case& definition, const sw::SwitchReport& report);

}  // namespace outrider::lab
