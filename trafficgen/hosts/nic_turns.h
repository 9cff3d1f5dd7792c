#pragma once

#include <cstdint>
#include <optional>

#include "trafficgen/hosts/nic_queue.h"

namespace outrider::tg {

/// Decides whose turn it is at a host's NIC. It owns the NIC's queue and the connection that is
/// next without having been queued: with segmentation offload it keeps its turn for `tso_bytes` of
/// payload. Not thread-safe: the
/// host owns it.
class NicTurns {
 public:
  /// @param tso_bytes 0: segments of connections take turns
  explicit NicTurns(std::uint32_t tso_bytes) : tso_bytes_(tso_bytes) {}

  [[nodiscard]] NicQueue& queue() noexcept { return queue_; }
  /// Queues a connection. One that waits alone, as most do, waits beside the queue: it is next.
  [[gnu::always_inline]] void push(std::uint8_t c, std::uint32_t number) {
    if (tso_bytes_ == 0 && empty() && queue_.has_one_class()) kept_ = number;
    else queue_.push(c, number);
  }
  [[nodiscard]] bool empty() const noexcept { return !kept_ && queue_.empty(); }
  /// Takes the next in turn. @pre !empty()
  [[nodiscard]] std::uint32_t take(Time now) noexcept {
    if (kept_) {
      const std::uint32_t number = *kept_;
      kept_.reset();
      return number;
    }
    bytes_ = 0;
    return queue_.pop(now);
  }
  /// Notes that a segment has left. @return true if another one of the same size may follow in this
  /// turn
  [[nodiscard]] bool goes_on(std::uint32_t payload_bytes) noexcept {
    bytes_ += payload_bytes;
    return payload_bytes != 0 && bytes_ + payload_bytes <= tso_bytes_;
  }
  [[nodiscard]] bool offloads() const noexcept { return tso_bytes_ != 0; }
  /// Continues the turn. @param number as returned by take()
  void keep(std::uint32_t number) noexcept { kept_ = number; }

 private:
  static constexpr std::size_t kExpected = 64;

  std::uint32_t tso_bytes_;
  NicQueue queue_{kExpected};
  std::optional<std::uint32_t> kept_;  ///< is next
  std::uint32_t bytes_ = 0;            ///< payload sent in this turn
};

}  // namespace outrider::tg
