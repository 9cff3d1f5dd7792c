#pragma once

#include <cstddef>
#include <cstdint>

#include "switch/aqm/shared_buffer.h"
#include "switch/egress/lossless_buffer.h"
#include "switch/egress/queue_part.h"

namespace outrider::sw {

/// The account of one queue in memory that queues share: the switch's shared buffer, and what
/// lossless queues have brought, whose packets are in memory of their own.
class PacketMemory final : public QueuePart {
 public:
  struct Setup {
    SharedBuffer* buffer = nullptr;      ///< of the switch; must outlive the part. nullptr: none
    std::size_t buffer_queue = 0;        ///< this queue's number there
    LosslessBuffer* lossless = nullptr;  ///< the same; nullptr: no queue of the switch is lossless
    std::uint8_t number = 0;             ///< of the queue at its port
  };
  explicit PacketMemory(const Setup& setup) : own_(setup) {}
  [[nodiscard]] static bool needed(const Setup& setup) noexcept {
    return setup.buffer != nullptr || setup.lossless != nullptr;
  }

  [[nodiscard]] Steps steps() const noexcept override {
    return {Step::kRoom, Step::kEnter, Step::kExit};
  }
  [[nodiscard]] std::optional<DropReason> refuses(const Packet& packet) const noexcept override;
  void on_entry(const Packet& packet, Time now) noexcept override;
  void on_exit(const Fifo::Item& item, Time now) noexcept override;
  void forget(const Fifo::Item& item) noexcept override;

 private:
  [[nodiscard]] bool is_lossless(const Packet& packet) const noexcept {
    return own_.lossless != nullptr && own_.lossless->holds(packet, own_.number);
  }

  Setup own_;
};

}  // namespace outrider::sw
