#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outrider {

/// The decision of a shared buffer on one packet.
enum class BufferVerdict : std::uint8_t {
  kAdmit,
  kOverShare,  ///< the queue has reached its dynamic threshold
  kFull,       ///< no shared memory is free
};

/// Manages the packet memory of one switch. Each queue owns a reserved share. The rest is
/// shared: a queue may hold at most alpha times the free part of it, so that some always
/// stays free for a queue that becomes active. Bytes are frame bytes.
///
/// It decides and keeps account, and the caller drops. Call admits() and then charge() before
/// each push, and release() after each packet has left.
///
/// Identity: used_bytes() == sum over queues of used_bytes(q), and never more than
/// total_bytes(). O(1), nothing is allocated after construction. Not thread-safe:
/// if egress ports have different owners, each owner needs a buffer of its own.
///
/// Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
/// Packet Switches", 1998, section III. The reserved share follows switch chips.
/// One active queue gets alpha / (1 + alpha) of the shared part, n get n alpha /
/// (1 + n alpha). With a very large alpha all queues share the part completely.
class SharedBuffer {
 public:
  struct QueueShare {
    std::uint64_t reserved_bytes = 0;
    double alpha = 1;  ///< > 0, finite
  };

  /// @pre the reserved shares add up to at most `total_bytes`, and the ranges above hold
  SharedBuffer(std::uint64_t total_bytes, std::span<const QueueShare> shares)
      : total_bytes_(total_bytes), shared_free_bytes_(total_bytes) {
    queues_.reserve(shares.size());
    for (const QueueShare& s : shares) {
      assert(s.alpha > 0 && s.reserved_bytes <= shared_free_bytes_);
      shared_free_bytes_ -= s.reserved_bytes;
      queues_.push_back({s.reserved_bytes, s.alpha, 0});
    }
  }

  /// Decides on a packet without changing anything.
  [[nodiscard]] BufferVerdict admits(std::size_t queue, std::uint32_t frame_bytes) const noexcept {
    const Queue& q = queues_[queue];
    const std::uint64_t shared = shared_of(q, q.used_bytes + frame_bytes);
    const std::uint64_t added = shared - shared_of(q, q.used_bytes);
    if (added == 0) return BufferVerdict::kAdmit;
    if (added > shared_free_bytes_) return BufferVerdict::kFull;
    return static_cast<double>(shared) <= q.alpha * static_cast<double>(shared_free_bytes_)
               ? BufferVerdict::kAdmit
               : BufferVerdict::kOverShare;
  }

  /// @pre admits(queue, frame_bytes) == kAdmit
  void charge(std::size_t queue, std::uint32_t frame_bytes) noexcept {
    assert(admits(queue, frame_bytes) == BufferVerdict::kAdmit);
    Queue& q = queues_[queue];
    const std::uint64_t before = shared_of(q, q.used_bytes);
    q.used_bytes += frame_bytes;
    used_bytes_ += frame_bytes;
    shared_free_bytes_ -= shared_of(q, q.used_bytes) - before;
  }

  /// @pre at least `frame_bytes` of the queue were charged and not released
  void release(std::size_t queue, std::uint32_t frame_bytes) noexcept {
    Queue& q = queues_[queue];
    assert(frame_bytes <= q.used_bytes);
    const std::uint64_t before = shared_of(q, q.used_bytes);
    q.used_bytes -= frame_bytes;
    used_bytes_ -= frame_bytes;
    shared_free_bytes_ += before - shared_of(q, q.used_bytes);
  }

  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes(std::size_t queue) const noexcept {
    return queues_[queue].used_bytes;
  }
  /// Returns how much of the shared part the queue may hold now.
  [[nodiscard]] std::uint64_t threshold_bytes(std::size_t queue) const noexcept {
    return static_cast<std::uint64_t>(queues_[queue].alpha *
                                      static_cast<double>(shared_free_bytes_));
  }
  /// Returns the free bytes of the shared part, from which the thresholds are computed.
  [[nodiscard]] std::uint64_t shared_free_bytes() const noexcept { return shared_free_bytes_; }
  [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }

 private:
  struct Queue {
    std::uint64_t reserved_bytes;
    double alpha;
    std::uint64_t used_bytes;
  };

  /// Returns the part of `used_bytes` beyond the queue's reserved share.
  static std::uint64_t shared_of(const Queue& q, std::uint64_t used_bytes) noexcept {
    return used_bytes - std::min(used_bytes, q.reserved_bytes);
  }

  std::uint64_t total_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t shared_free_bytes_;
  std::vector<Queue> queues_;
};

}  // namespace outrider
