#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace outrider::tg {

/// A bit for each packet of a window that moves on. Packets are numbered; two whose numbers differ
/// by the window's length or more may share a bit, so a bit is cleared before the window leaves it.
/// Nothing allocates after construction. Not thread-safe.
class PacketBits {
 public:
  /// @param window_packets 0: no bits, and nothing may be asked
  explicit PacketBits(std::uint32_t window_packets)
      : words_(window_packets == 0 ? 0 : std::bit_ceil((window_packets + 63U) / 64U)) {}

  [[nodiscard]] bool has(std::uint64_t packet) const noexcept {
    return (word(packet) >> (packet % 64) & 1) != 0;
  }
  void set(std::uint64_t packet) noexcept { words_[place(packet)] |= bit(packet); }
  void clear(std::uint64_t packet) noexcept { words_[place(packet)] &= ~bit(packet); }

  /// Returns the first packet from `from` on whose bit is not set; `end` if there is none before
  /// it.
  [[nodiscard]] std::uint64_t first_clear(std::uint64_t from, std::uint64_t end) const noexcept {
    while (from < end) {
      const std::uint64_t absent = ~word(from) >> (from % 64);
      if (absent != 0) return std::min(from + static_cast<unsigned>(std::countr_zero(absent)), end);
      from += 64 - from % 64;
    }
    return end;
  }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t packet) const noexcept {
    assert(!words_.empty());
    return packet / 64 & (words_.size() - 1);
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t packet) const noexcept {
    return words_[place(packet)];
  }
  [[nodiscard]] static std::uint64_t bit(std::uint64_t packet) noexcept {
    return std::uint64_t{1} << (packet % 64);
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace outrider::tg
