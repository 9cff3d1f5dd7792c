#pragma once

#include "switch/egress/parts/flow_demotion.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// Sends the first bytes of a queue's flows to a queue of its port that is served earlier, as a
/// FlowDemotion says. They keep their class.
class DemotedFlows final : public QueuePart {
 public:
  /// @param own  its queue, which outlives it. @pre config.queue.demotion.after_bytes
  DemotedFlows(const PortQueueConfig& config, const PortQueue& own)
      : own_(own.fifo()),
        to_(static_cast<std::uint8_t>(config.queue.demotion.from_queue)),
        demotion_(config.queue.demotion) {}

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kChoose}; }
  void choose(Packet& packet, Time now) noexcept override;
  void count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const override {
    to.demotion = demotion_.counters();
  }

 private:
  const Fifo& own_;
  std::uint8_t to_;
  FlowDemotion demotion_;
};

}  // namespace outrider::sw
