#include "switch/egress/parts/path_telemetry.h"

#include <algorithm>

#include "common/net/roce_telemetry.h"
#include "switch/egress/port_transmitter.h"

namespace outrider::sw {

/// Returns how long the port takes to send so many bytes of frames.
Duration PathTelemetry::time_of(std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t kMostBytes = 1U << 30;  // far beyond what a record can tell
  const std::uint64_t rate = transmitter_.output().rate().bits_per_second;
  return Duration{static_cast<std::int64_t>(std::min(bytes, kMostBytes) * 8 * kNsPerSecond / rate)};
}

void PathTelemetry::on_departure(const Transmission& sent) noexcept {
  Packet& packet = *sent.item.packet;
  const PacketMeta& m = meta(packet);
  if (m.flow.destination_port == roce::kPort && m.tcp_offset == 0) {
    const auto outcome = roce::append_telemetry(buffer(packet), m.ip_offset, hop_,
                                                {.at = sent.start.time_since_epoch(),
                                                 .busy = busy_,
                                                 .queue = time_of(sent.queue.waiting().bytes)});
    written_ += outcome == hop_trace::Appended::kYes;
    no_room_ += outcome == hop_trace::Appended::kNoRoom;
  }
  busy_ += sent.finish - sent.start;
}

void PathTelemetry::count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const {
  to.hop_records += written_;
  to.hop_records_no_room += no_room_;
}

}  // namespace outrider::sw
