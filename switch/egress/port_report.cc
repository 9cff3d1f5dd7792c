#include "switch/egress/port_report.h"

#include "switch/egress/port_queue.h"

namespace outrider::sw {

void settle(PortQueue& queue, Time now) noexcept {
  queue.regulation().settle(now);
  queue.parts().each([now](QueuePart& part) { part.settle(now); });
}

QueueCounts counts_of(const PortQueue& queue, Time now) {
  QueueCounts n;
  base_of<QueueCounters>(n) = queue.outcomes().counters();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] = queue.fifo().occupancy_by_class().values[c];
  n.resident_bytes = queue.fifo().occupancy_bytes();
  queue.marking().count(n);
  queue.regulation().count(n, now);
  queue.parts().each([&](const QueuePart& part) { part.count(n, now); });
  return n;
}

}  // namespace outrider::sw
