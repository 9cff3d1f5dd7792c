#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

namespace outrider::tg {

/// A set of a tensor's packets, with one bit each. Allocates at construction only; not thread-safe.
class PacketSet {
 public:
  explicit PacketSet(std::uint32_t packets) : packets_(packets), words_((packets + 63) / 64) {}

  /// Adds a packet. @return false if it was a member. @pre packet < packets()
  bool insert(std::uint32_t packet) noexcept {
    assert(packet < packets_);
    std::uint64_t& word = words_[packet / 64];
    const std::uint64_t bit = std::uint64_t{1} << (packet % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    ++size_;
    return true;
  }
  /// @pre contains(packet)
  void erase(std::uint32_t packet) noexcept {
    assert(contains(packet));
    words_[packet / 64] &= ~(std::uint64_t{1} << (packet % 64));
    --size_;
  }
  void clear() noexcept {
    std::ranges::fill(words_, 0);
    size_ = 0;
  }
  [[nodiscard]] bool contains(std::uint32_t packet) const noexcept {
    return (words_[packet / 64] >> (packet % 64) & 1) != 0;
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t packets() const noexcept { return packets_; }
  /// Returns the first member that is not below `from`; packets() if there is none.
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept {
    return find(from, [](std::uint64_t word) { return word; });
  }
  /// Returns the first non-member that is not below `from`; packets() if there is none.
  [[nodiscard]] std::uint32_t next_absent(std::uint32_t from) const noexcept {
    return find(from, [](std::uint64_t word) { return ~word; });
  }

 private:
  template <class Of>
  [[nodiscard]] std::uint32_t find(std::uint32_t from, Of&& of) const noexcept {
    if (from >= packets_) return packets_;
    std::uint64_t word = of(words_[from / 64]) & ~std::uint64_t{0} << (from % 64);
    for (std::uint32_t i = from / 64;;) {
      if (word != 0)
        return std::min(i * 64 + static_cast<std::uint32_t>(std::countr_zero(word)), packets_);
      if (++i == words_.size()) return packets_;
      word = of(words_[i]);
    }
  }

  std::uint32_t packets_;
  std::uint32_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace outrider::tg
