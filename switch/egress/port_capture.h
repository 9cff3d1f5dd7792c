#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/core/clock.h"
#include "common/core/traffic_class.h"
#include "common/dpdk/packet.h"

namespace outrider::sw {

/// What is noted of a packet as its transmission begins, beside its first bytes.
struct CaptureNote {
  Time at{};
  Duration sojourn{};                              ///< in the queue
  std::uint64_t resident_bytes = 0;                ///< that it leaves behind in its queue
  std::uint32_t resident_packets = 0;              ///< the same
  std::uint32_t held_packets = 0;                  ///< of them: before the queue
  std::uint32_t background_threshold_packets = 0;  ///< in force
  std::uint32_t entries = 0;                       ///< announcements that are live
  std::uint32_t frame_bytes = 0;
  std::uint16_t captured_bytes = 0;  ///< filled in here
  std::uint8_t queue = 0;
  TrafficClass traffic_class{};
};

/// Carries copies of what leaves an egress port from its lcore to a thread that writes them:
/// a ring of records of one size. A full ring costs the record, never the packet.
///
/// note(): the lcore that owns the port. drain(), finish(): one other thread. The counters:
/// anyone. Identity: noted == drained + in the ring; offered to note() == noted + missed,
/// until finish().
class PortCapture {
 public:
  /// @param snap_bytes kept of a packet, >= 1. @param records  rounded up to a power of two
  PortCapture(std::uint16_t snap_bytes, std::uint32_t records)
      : snap_bytes_(snap_bytes),
        stride_((sizeof(CaptureNote) + snap_bytes + 7) / 8 * 8),
        mask_(std::bit_ceil(records) - 1),
        ring_((std::size_t{mask_} + 1) * stride_) {
    assert(snap_bytes >= 1 && records >= 1);
  }

  void note(CaptureNote note, const std::uint8_t* bytes, std::size_t available) noexcept {
    if (finished_.load(std::memory_order_relaxed)) return;
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) > mask_) {
      missed_.store(missed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    note.captured_bytes = static_cast<std::uint16_t>(std::min<std::size_t>(snap_bytes_, available));
    std::uint8_t* record = ring_.data() + (tail & mask_) * stride_;
    std::memcpy(record, &note, sizeof note);
    std::memcpy(record + sizeof note, bytes, note.captured_bytes);
    tail_.store(tail + 1, std::memory_order_release);
  }

  /// Hands all records to `take(const CaptureNote&, const std::uint8_t* bytes)`, in order.
  template <class Take>
  void drain(Take&& take) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    for (std::uint64_t head = head_.load(std::memory_order_relaxed); head != tail; ++head) {
      const std::uint8_t* record = ring_.data() + (head & mask_) * stride_;
      CaptureNote note;
      std::memcpy(&note, record, sizeof note);
      take(note, record + sizeof note);
      head_.store(head + 1, std::memory_order_release);
    }
  }

  /// Nothing more is wanted.
  void finish() noexcept { finished_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool finished() const noexcept { return finished_.load(std::memory_order_relaxed); }

  /// Packets that the ring had no room for.
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint16_t snap_bytes() const noexcept { return snap_bytes_; }

 private:
  std::uint16_t snap_bytes_;
  std::size_t stride_;
  std::uint64_t mask_;
  std::vector<std::uint8_t> ring_;
  std::atomic<bool> finished_{false};
  alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< of the lcore
  std::atomic<std::uint64_t> missed_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};  ///< of the other thread
};

}  // namespace outrider::sw
