#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/net/mlt_message.h"

namespace outrider::tg {

/// One tensor of a burst, or the part of it that one server holds; both ends know it.
struct MltTensor {
  std::uint64_t bytes = 0;   ///< > 0, a multiple of mlt::kValueBytes, at most kMaxMltTensorBytes
  std::uint8_t urgency = 0;  ///< class of its layer: lower ones leave first
  std::uint8_t dscp = 0;     ///< < 64
  bool droppable = false;    ///< a front layer: never ECT
  double tolerance = 0;      ///< share that the receiver may do without; [0, 1)
};

/// The largest tensor in which every place can be named in a message.
inline constexpr std::uint64_t kMaxMltTensorBytes = std::uint64_t{mlt::kValueBytes} << 32;

/// Divides a tensor into packets. All are full except the last.
class MltLayout {
 public:
  /// @param packet_bytes bytes of values in a full packet; a multiple of mlt::kValueBytes
  constexpr MltLayout(std::uint64_t tensor_bytes, std::uint32_t packet_bytes) noexcept
      : bytes_(tensor_bytes), packet_bytes_(packet_bytes) {
    assert(tensor_bytes > 0 && tensor_bytes % mlt::kValueBytes == 0);
    assert(packet_bytes > 0 && packet_bytes % mlt::kValueBytes == 0);
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] constexpr std::uint32_t packets() const noexcept {
    return static_cast<std::uint32_t>((bytes_ + packet_bytes_ - 1) / packet_bytes_);
  }
  [[nodiscard]] constexpr std::uint64_t offset(std::uint32_t packet) const noexcept {
    return std::uint64_t{packet} * packet_bytes_;
  }
  /// @pre packet < packets()
  [[nodiscard]] constexpr std::uint32_t length(std::uint32_t packet) const noexcept {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(packet_bytes_, bytes_ - offset(packet)));
  }
  /// Returns the packet with that place and length; packets() if there is none.
  [[nodiscard]] constexpr std::uint32_t packet_of(std::uint64_t offset_bytes,
                                                  std::uint32_t length_bytes) const noexcept {
    if (offset_bytes >= bytes_ || offset_bytes % packet_bytes_ != 0) return packets();
    const auto packet = static_cast<std::uint32_t>(offset_bytes / packet_bytes_);
    return length(packet) == length_bytes ? packet : packets();
  }

 private:
  std::uint64_t bytes_;
  std::uint32_t packet_bytes_;
};

/// Returns the bytes that a receiver may do without. The bound is exact, and 0 means none.
/// @param tolerance in [0, 1)
[[nodiscard]] constexpr std::uint64_t tolerated_bytes(std::uint64_t bytes,
                                                      double tolerance) noexcept {
  assert(tolerance >= 0 && tolerance < 1);
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * tolerance);
}

}  // namespace outrider::tg
