#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

class EgressPort;
class PortQueue;

// Reports of a port: when the run ends, and while it runs.

/// Brings regulation and parts of a queue up to `now`, so that counts_of() allocates nothing.
void settle(PortQueue& queue, Time now) noexcept;
/// Returns the counters of queue `q`. Signals, which wait in their own queue, count with queue 0.
[[nodiscard]] QueueCounts counts_of(const EgressPort& port, std::size_t q, Time now);

/// Returns the number of packets that wait at a port.
[[nodiscard]] std::uint64_t waiting_packets(const EgressPort& port) noexcept;
/// Appends a report for each queue of a port; signals are counted with queue 0.
void append_reports(const EgressPort& port, std::vector<QueueReport>& reports, Time now);
/// Writes the counters to the port's cells. The port's owner calls it between two polls. Allocates
/// nothing.
void publish_counts(EgressPort& port, PortCells& to, Time now) noexcept;

}  // namespace outrider::sw
