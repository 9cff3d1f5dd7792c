#pragma once

#include <cstddef>
#include <cstdint>

#include "switch/egress/queue_part.h"

namespace outrider::sw {

class PortTransmitter;

/// Writes into packets of RoCEv2 that carry telemetry what they met at a queue (roce_telemetry.h):
/// what HPCC's controller reads. Time of sending and what is left behind are those of the queue. So
/// a class that shares its link with others sees the use that it makes of the link, and what it
/// does not get of it as a queue of its own.
class PathTelemetry final : public QueuePart {
 public:
  /// @param hop number of the port among all ports of the path
  /// @param transmitter of the port, must outlive it
  PathTelemetry(std::uint16_t hop, const PortTransmitter& transmitter) noexcept
      : hop_(hop), transmitter_(transmitter) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kDepart}; }
  void on_departure(const Transmission& sent) noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;

 private:
  [[nodiscard]] Duration time_of(std::uint64_t bytes) const noexcept;

  std::uint16_t hop_;
  const PortTransmitter& transmitter_;
  Duration busy_{};  ///< in which the port has been sending packets of the queue
  std::uint64_t written_ = 0;
  std::uint64_t no_room_ = 0;
};

}  // namespace outrider::sw
