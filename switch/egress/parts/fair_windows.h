#pragma once

#include "switch/egress/port_queue.h"
#include "switch/egress/queue_part.h"
#include "switch/regulation/windows/fair_share.h"

namespace outrider::sw {

/// Holds background's windows at their fair share in the mode that does: shows a FairShare the
/// queue's packets and what comes back for them, and writes the windows. It needs no burst, and DDL
/// data pass it by, so the queue has no regulator. Marks and drops are those of the queue.
class FairWindows final : public QueuePart {
 public:
  /// @param port  of the queue. @param queue must outlive it
  FairWindows(const PortQueueConfig& config, const SwitchPortConfig& port, const PortQueue& queue);

  [[nodiscard]] Steps steps() const noexcept override { return {Step::kArrive, Step::kReturn}; }
  [[nodiscard]] ArrivalVerdict on_arrival(const Incoming& incoming) noexcept override;
  bool on_return(Packet& packet, Time now) noexcept override;
  void count(QueueCounts& to, std::size_t /*queue*/, Time /*now*/) const override {
    to.window = share_.counters();
  }

 private:
  const PortQueue& queue_;
  std::uint32_t overhead_bytes_;
  FairShare share_;
};

}  // namespace outrider::sw
