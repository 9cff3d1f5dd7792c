#pragma once

#include <cstdint>

#include "switch/egress/parts/hop_recorder.h"
#include "switch/egress/parts/port_capture.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Writes hop records into the probes that leave a queue.
class HopRecords final : public QueuePart {
 public:
  HopRecords(const HopRecorder& recorder, std::uint8_t number)
      : recorder_(recorder), number_(number) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kDepart}; }
  void on_departure(const Transmission& sent) noexcept override;
  void count(QueueCounts& to, std::size_t queue, Time now) const override;

 private:
  HopRecorder recorder_;
  std::uint8_t number_;  ///< of the queue at its port
  std::uint64_t written_ = 0;
  std::uint64_t no_room_ = 0;
};

/// Copies the first bytes of every packet that leaves a queue, with the state of the queue.
class CapturedDepartures final : public QueuePart {
 public:
  /// @param number  of the queue at its port. @param to must outlive it
  CapturedDepartures(PortCapture& to, std::uint8_t number) : to_(to), number_(number) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kDepart}; }
  void on_departure(const Transmission& sent) noexcept override;

 private:
  PortCapture& to_;
  std::uint8_t number_;
};

}  // namespace outrider::sw
