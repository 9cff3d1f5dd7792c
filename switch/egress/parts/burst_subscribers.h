#pragma once

#include <vector>

#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// The queues of a switch that subscribe to the bursts that come to a port, see `hears` of their
/// regulation. Empty for most ports.
class BurstSubscribers final : public QueuePart {
 public:
  /// PartList::renew() of the port's queues has to follow.
  /// @param queue must outlive the last packet. @param same_port  whether it takes the same link
  void add(PortQueue& queue, bool same_port) { queues_.push_back({&queue, same_port}); }

  /// Announces a burst to them that goes to `own`, which has handled its START itself.
  void on_start(const PortQueue& own, const StartSignal& start, Time now) noexcept;

  [[nodiscard]] Steps steps() const noexcept override {
    return queues_.empty() ? Steps{} : Steps{Step::kArrive};
  }
  [[nodiscard]] ArrivalVerdict on_arrival(const Incoming& incoming) noexcept override;

 private:
  struct Subscriber {
    PortQueue* queue;
    bool same_port;
  };
  std::vector<Subscriber> queues_;
};

}  // namespace outrider::sw
