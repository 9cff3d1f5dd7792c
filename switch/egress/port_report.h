#pragma once

#include "common/core/clock.h"
#include "switch/report/report.h"

namespace outrider::sw {

class PortQueue;

/// Brings regulation and parts of a queue up to `now`, so that counts_of() allocates nothing.
void settle(PortQueue& queue, Time now) noexcept;
/// Returns the counters of a queue, without those of its port.
[[nodiscard]] QueueCounts counts_of(const PortQueue& queue, Time now);

}  // namespace outrider::sw
