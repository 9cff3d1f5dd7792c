#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "switch/egress/fixed_array.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

class PortTransmitter;

/// Writes into packets of RoCEv2 that carry telemetry what they met at a port (roce_telemetry.h):
/// what HPCC's controller reads. All queues of the port share the part, because the time in which
/// the port was sending is the port's; what a packet left behind is that of its own queue.
class PathTelemetry final : public QueuePart {
 public:
  /// @param hop number of the port among all ports of the path
  /// @param queues,transmitter of the port, must outlive it
  PathTelemetry(std::uint16_t hop, FixedArray<PortQueue>& queues,
                const PortTransmitter& transmitter) noexcept
      : hop_(hop), queues_(queues), transmitter_(transmitter) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kDepart}; }
  void on_departure(const Transmission& sent) noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;

 private:
  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t no_room = 0;
  };

  [[nodiscard]] Duration time_of(std::uint64_t bytes) const noexcept;

  std::uint16_t hop_;
  FixedArray<PortQueue>& queues_;
  const PortTransmitter& transmitter_;
  Duration busy_{};  ///< in which the port has been sending
  std::array<Counts, kMaxQueuesPerPort> counts_{};
};

}  // namespace outrider::sw
