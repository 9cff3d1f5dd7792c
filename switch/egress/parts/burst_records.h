#pragma once

#include "switch/egress/parts/queue_tap.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

class PortTransmitter;

/// Records how bursts fared in one queue: shows a QueueTap its packets.
class BurstRecords final : public QueuePart {
 public:
  /// @param number  of the queue at its port. @param queue,transmitter must outlive it
  BurstRecords(const QueueTap::Limits& limits, std::uint8_t number, PortQueue& queue,
               const PortTransmitter& transmitter)
      : tap_(limits), number_(number), queue_(queue), transmitter_(transmitter) {}

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kArrive, Step::kWait, Step::kDepart};
  }
  [[nodiscard]] ArrivalVerdict on_arrival(const Incoming& incoming) noexcept override;
  void on_waiting(Time now) noexcept override;
  void on_departure(const Transmission& sent) noexcept override;
  void report(QueueReport& to, Time now) const override;

 private:
  [[nodiscard]] QueueState found_by(const Packet& packet, Time now) noexcept;

  QueueTap tap_;
  std::uint8_t number_;
  PortQueue& queue_;
  const PortTransmitter& transmitter_;
};

}  // namespace outrider::sw
