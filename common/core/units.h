#pragma once

#include <cassert>
#include <compare>
#include <cstdint>

#include "common/core/clock.h"

namespace outrider {

/// Preamble, start delimiter, inter-frame gap and FCS: the bytes that a frame costs on the
/// wire in addition to those in its buffer. (IEEE 802.3)
inline constexpr std::uint32_t kL1OverheadBytes = 24;
/// Shortest frame of IEEE 802.3, without FCS.
inline constexpr std::uint32_t kMinFrameBytes = 60;
inline constexpr std::uint32_t kFcsBytes = 4;
inline constexpr std::uint32_t kL1OverFcsBytes = kL1OverheadBytes - kFcsBytes;

constexpr std::uint32_t wire_bytes(std::uint32_t frame_bytes) noexcept {
  return frame_bytes + kL1OverheadBytes;
}

struct BitRate {
  std::uint64_t bits_per_second = 0;
  auto operator<=>(const BitRate&) const = default;
};

struct PacketRate {
  std::uint64_t packets_per_second = 0;
  auto operator<=>(const PacketRate&) const = default;
};

/// Selects the bytes that a rate counts: frames with kL1OverheadBytes, or frames alone.
enum class RateLayer : std::uint8_t { kL1, kL2 };

/// Models one transmitter: serialises frames back to back at a rate. It carries over the
/// fraction of a nanosecond that each frame leaves, so that a long train takes the time that
/// the rate gives. The time of a byte is rounded down to 2^-20 ns, so it is too fast by at
/// most a share of rate / 8.3e15 bit/s: 1.2e-6 at 10 Gbit/s, 4.8e-5 at 400.
///
/// Not thread-safe (one lcore owns it). O(1), no division.
class Serializer {
 public:
  /// @pre rate.bits_per_second > 0
  Serializer(BitRate rate, RateLayer layer) noexcept
      : overhead_bytes_(layer == RateLayer::kL1 ? kL1OverheadBytes : 0),
        q20_ns_per_byte_((8'000'000'000ULL << 20) / rate.bits_per_second) {
    assert(rate.bits_per_second > 0);
  }

  /// Returns the instant from which the next frame may start.
  [[nodiscard]] Time free_at() const noexcept { return free_at_; }

  /// Starts a frame at `start` and occupies the transmitter until the returned instant.
  /// @pre start >= free_at()
  Time transmit(std::uint32_t frame_bytes, Time start) noexcept {
    assert(start >= free_at_);
    if (start > free_at_) q20_remainder_ = 0;  // it was idle in between: nothing carries over
    const std::uint64_t q20 = (frame_bytes + overhead_bytes_) * q20_ns_per_byte_ + q20_remainder_;
    q20_remainder_ = q20 & ((1U << 20) - 1);
    free_at_ = start + Duration{static_cast<std::int64_t>(q20 >> 20)};
    return free_at_;
  }

  /// Applies from the next frame on; the frame in transmission ends when it would have.
  void change(BitRate rate, RateLayer layer) noexcept {
    const Time free_at = free_at_;
    *this = Serializer(rate, layer);
    free_at_ = free_at;
  }

  /// Returns the time that a frame takes, without starting it.
  [[nodiscard]] Duration duration_of(std::uint32_t frame_bytes) const noexcept {
    return Duration{
        static_cast<std::int64_t>(((frame_bytes + overhead_bytes_) * q20_ns_per_byte_) >> 20)};
  }

 private:
  std::uint64_t overhead_bytes_;
  std::uint64_t q20_ns_per_byte_;
  std::uint64_t q20_remainder_ = 0;
  Time free_at_{};
};

}  // namespace outrider
