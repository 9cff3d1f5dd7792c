#pragma once

#include "switch/egress/parts/flow_steering.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Sends announced bursts of a queue to another queue of its port, in the mode that does, as a
/// FlowSteering says. There they count as DDL data, whatever they were classified as.
class SteeredBursts final : public QueuePart {
 public:
  /// @param own  its queue, which has a regulator. @param target  where bursts go, `to` of the
  /// port. Both must outlive it
  SteeredBursts(const PortQueueConfig& config, PortQueue& own, const PortQueue& target)
      : own_(own),
        target_(target.fifo()),
        to_(static_cast<std::uint8_t>(config.regulation.steer_to_queue)),
        steering_(config.regulation.max_entries) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kChoose, Step::kStart}; }
  void choose(Packet& packet, Time now) noexcept override;
  void on_armed(const StartSignal& start, Time now) noexcept override;
  void count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const override {
    to.steer = steering_.counters();
  }

 private:
  PortQueue& own_;
  const Fifo& target_;
  std::uint8_t to_;
  FlowSteering steering_;
};

}  // namespace outrider::sw
