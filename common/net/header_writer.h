#pragma once

#include <cstdint>
#include <cstring>

#include "common/net/headers.h"

namespace outrider {

/// Returns two 16-bit fields, given in host byte order, as the 32-bit word they form in memory.
constexpr std::uint32_t word_of(std::uint16_t first, std::uint16_t second) noexcept {
  return be32(std::uint32_t{first} << 16 | second);
}

/// Writes a header word by word, and sums up the words for its checksum at the same time.
///
/// A sum computed afterwards would read the words back in another width than the fields are
/// written in. A CPU cannot forward such stores to the load: it waits until all earlier
/// stores, even those to distant memory, have reached the cache.
class HeaderWriter {
 public:
  /// @param out where the first word goes; the caller has checked that there is room
  explicit HeaderWriter(std::uint8_t* out) noexcept : at_(out) {}

  /// @param word in memory order
  void put(std::uint32_t word) noexcept {
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
    sum_ += word;
  }
  [[nodiscard]] std::uint8_t* at() const noexcept { return at_; }
  /// Returns the sum in memory order, not folded (RFC 1071).
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint8_t* at_;
  std::uint64_t sum_ = 0;
};

}  // namespace outrider
