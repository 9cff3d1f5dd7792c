#pragma once

#include <cstdint>

namespace outrider::tg {

/// Converts one direction's numbers: 32-bit sequence numbers on the wire, 64-bit stream offsets
/// inside. Offset 0 is the first data byte, the SYN is before it, and the FIN takes the offset
/// after the last byte (RFC 9293, section 3.4).
class SequenceSpace {
 public:
  constexpr SequenceSpace() noexcept = default;
  explicit constexpr SequenceSpace(std::uint32_t initial_sequence) noexcept
      : first_(initial_sequence + 1) {}

  /// Returns the number of the SYN, and that of the first data byte.
  [[nodiscard]] constexpr std::uint32_t initial() const noexcept { return first_ - 1; }
  [[nodiscard]] constexpr std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] constexpr std::uint32_t wire(std::uint64_t offset) const noexcept {
    return first_ + static_cast<std::uint32_t>(offset);
  }

  /// Returns the offset nearest to `near` that has this number; negative before the stream.
  [[nodiscard]] constexpr std::int64_t offset(std::uint32_t sequence,
                                              std::uint64_t near) const noexcept {
    const auto distance = static_cast<std::int32_t>(sequence - wire(near));
    return static_cast<std::int64_t>(near) + distance;
  }

 private:
  std::uint32_t first_ = 0;  ///< number of offset 0
};

/// The largest distance by which a sequence number may lie behind the expected one and still be old
/// instead of invalid: the largest possible window (RFC 7323, section 2.3).
inline constexpr std::int64_t kMaxWindowBytes = std::int64_t{1} << 30;

}  // namespace outrider::tg
