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
#include "common/dpdk/packet/packet.h"

namespace outrider::sw {

/// The metadata recorded with a packet's first bytes when its transmission begins.
struct CaptureNote {
  Time at{};
  Duration sojourn{};                              ///< time in the queue
  std::uint64_t resident_bytes = 0;                ///< left behind in its queue
  std::uint32_t resident_packets = 0;              ///< left behind in its queue
  std::uint32_t held_packets = 0;                  ///< those of them held before the queue
  std::uint32_t background_threshold_packets = 0;  ///< threshold in force
  std::uint32_t entries = 0;                       ///< live announcements
  std::uint32_t frame_bytes = 0;
  std::uint16_t captured_bytes = 0;  ///< filled in by PortCapture::note()
  std::uint8_t queue = 0;
  TrafficClass traffic_class{};
};

/// Carries copies of the packets that leave an egress port from its lcore to a thread that
/// writes them. It is a ring of records of one size. If the ring is full the record is missed;
/// the packet itself is never affected.
///
/// The lcore that owns the port calls note(). One other thread calls drain() and finish(). Any
/// thread may read the counters. Identities: noted == drained + in the ring, and from `from` until
/// finish(): offered to note() == noted + missed.
class PortCapture {
 public:
  /// @param snap_bytes  bytes kept of each packet, >= 1
  /// @param records  slots of the ring, >= 1; rounded up to a power of two
  /// @param from  earlier packets are not noted
  PortCapture(std::uint16_t snap_bytes, std::uint32_t records, Time from = Time{})
      : from_(from),
        snap_bytes_(snap_bytes),
        stride_((sizeof(CaptureNote) + snap_bytes + 7) / 8 * 8),
        mask_(std::bit_ceil(records) - 1),
        ring_((std::size_t{mask_} + 1) * stride_) {
    assert(snap_bytes >= 1 && records >= 1);
  }

  void note(CaptureNote note, const std::uint8_t* bytes, std::size_t available) noexcept {
    if (note.at < from_ || finished_.load(std::memory_order_relaxed)) return;
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

  /// Ends the capture: note() does nothing from now on.
  void finish() noexcept { finished_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool finished() const noexcept { return finished_.load(std::memory_order_relaxed); }

  /// Returns the number of packets that the ring had no room for.
  [[nodiscard]] std::uint64_t missed() const noexcept {
    return missed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint16_t snap_bytes() const noexcept { return snap_bytes_; }

 private:
  Time from_;
  std::uint16_t snap_bytes_;
  std::size_t stride_;
  std::uint64_t mask_;
  std::vector<std::uint8_t> ring_;
  std::atomic<bool> finished_{false};
  alignas(64) std::atomic<std::uint64_t> tail_{0};  ///< written by the lcore
  std::atomic<std::uint64_t> missed_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};  ///< written by the other thread
};

}  // namespace outrider::sw
