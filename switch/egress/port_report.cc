#include "switch/egress/port_report.h"

#include "switch/egress/egress_port.h"

namespace outrider::sw {

void settle(PortQueue& queue, Time now) noexcept {
  queue.regulation().settle(now);
  queue.parts().each([now](QueuePart& part) { part.settle(now); });
}

QueueCounts counts_of(const EgressPort& port, std::size_t q, Time now) {
  const PortQueue& queue = port.queues()[q];
  QueueCounts n;
  base_of<QueueCounters>(n) = queue.outcomes().counters();
  n.drain_bits_per_second = port.transmitter().output().rate().bits_per_second;
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] = queue.fifo().occupancy_by_class().values[c];
  n.resident_bytes = queue.fifo().occupancy_bytes();
  queue.marking().count(n);
  queue.regulation().count(n, now);
  queue.parts().each([&](const QueuePart& part) { part.count(n, q, now); });
  if (q != 0) return n;
  const auto& signals = port.transmitter().signals();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    n.resident.values[c] += signals.occupancy_by_class().values[c];
  n.resident_bytes += signals.occupancy_bytes();
  return n;
}

std::uint64_t waiting_packets(const EgressPort& port) noexcept {
  std::uint64_t packets = port.transmitter().signals().occupancy_packets();
  for (std::size_t q = 0; q < port.queues().size(); ++q) {
    const PortQueue& queue = port.queues()[q];
    packets += queue.waiting().packets;
    queue.parts().each([&](const QueuePart& part) { packets += part.keeps(q); });
  }
  return packets;
}

void append_reports(const EgressPort& port, std::vector<QueueReport>& reports, Time now) {
  for (std::size_t q = 0; q < port.queues().size(); ++q) {
    QueueReport& r = reports.emplace_back();
    r.port_name = port.name();
    r.queue = static_cast<std::uint32_t>(q);
    port.queues()[q].parts().each([&](const QueuePart& part) { part.report(r, now); });
    static_cast<QueueCounts&>(r) = counts_of(port, q, now);
  }
}

void publish_counts(EgressPort& port, PortCells& to, Time now) noexcept {
  const PortTransmitter& transmitter = port.transmitter();
  to.port.write({.at_ns = now.time_since_epoch().count(),
                 .in_service = transmitter.output().in_service(),
                 .signals_waiting = transmitter.signals().occupancy_packets(),
                 .drain_rate = transmitter.output().rate(),
                 .overhead_bytes = transmitter.output().overhead_bytes()});
  for (std::size_t q = 0; q < port.queues().size(); ++q) {
    settle(port.queues()[q], now);
    to.queues[q].write(counts_of(port, q, now));
  }
}

}  // namespace outrider::sw
