#pragma once

#include <cstdint>
#include <limits>

#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// The room that all queues of a port have together: a packet finds none where so many packets or
/// bytes wait in them, however few in its own. What a queue does not use another may, so that
/// queues which divide traffic need no more memory than one queue.
///
/// Identity: the packets and the frame bytes that wait in the port's queues, those kept before a
/// FIFO included, are never more than the limits. Belongs to all queues of the port, see QueuePart.
class PortRoom final : public QueuePart {
 public:
  /// @param port  has limits of its own, each at least 1
  explicit PortRoom(const SwitchPortConfig& port) noexcept
      : limit_packets_(port.limit_packets.value_or(std::numeric_limits<std::uint32_t>::max())),
        limit_bytes_(port.limit_bytes.value_or(std::numeric_limits<std::uint64_t>::max())) {
    assert(limit_packets_ >= 1 && limit_bytes_ >= 1);
  }

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kRoom, Step::kEnter, Step::kExit};
  }
  [[nodiscard]] std::optional<DropReason> refuses(const Packet& packet) const noexcept override {
    if (waiting_packets_ >= limit_packets_) return DropReason::kTailPackets;
    if (waiting_bytes_ + meta(packet).frame_bytes > limit_bytes_) return DropReason::kTailBytes;
    return std::nullopt;
  }
  void on_entry(const Packet& packet, Time) noexcept override {
    ++waiting_packets_;
    waiting_bytes_ += meta(packet).frame_bytes;
  }
  void on_exit(const Fifo::Item& item, Time) noexcept override { forget(item); }
  void forget(const Fifo::Item& item) noexcept override {
    assert(waiting_packets_ > 0 && waiting_bytes_ >= item.frame_bytes);
    --waiting_packets_;
    waiting_bytes_ -= item.frame_bytes;
  }

 private:
  std::uint32_t limit_packets_;
  std::uint64_t limit_bytes_;
  std::uint32_t waiting_packets_ = 0;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace outrider::sw
