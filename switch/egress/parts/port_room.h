#pragma once

#include <cstdint>

#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// The room that all queues of a port have together: a packet finds none where so many wait in
/// them, however few in its own. What a queue does not use another may, so that queues which
/// divide traffic need no more memory than one queue.
///
/// Identity: the packets that wait in the port's queues, those kept before a FIFO included, are
/// never more than the limit. Belongs to all queues of the port, see QueuePart.
class PortRoom final : public QueuePart {
 public:
  /// @param limit_packets  at least 1
  explicit PortRoom(std::uint32_t limit_packets) noexcept : limit_packets_(limit_packets) {
    assert(limit_packets >= 1);
  }

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kRoom, Step::kEnter, Step::kExit};
  }
  [[nodiscard]] std::optional<DropReason> refuses(const Packet&) const noexcept override {
    return waiting_packets_ < limit_packets_ ? std::nullopt
                                             : std::optional(DropReason::kTailPackets);
  }
  void on_entry(const Packet&, Time) noexcept override { ++waiting_packets_; }
  void on_exit(const Fifo::Item&, Time) noexcept override { leave(); }
  void forget(const Fifo::Item&) noexcept override { leave(); }

 private:
  void leave() noexcept {
    assert(waiting_packets_ > 0);
    --waiting_packets_;
  }

  std::uint32_t limit_packets_;
  std::uint32_t waiting_packets_ = 0;
};

}  // namespace outrider::sw
