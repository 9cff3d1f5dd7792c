#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/ipv6_address.h"

namespace outrider {

/// Returns byte `depth` of an address, counted from the highest.
constexpr unsigned address_byte(std::uint32_t address, unsigned depth) noexcept {
  return (address >> (24 - 8 * depth)) & 0xFF;
}
constexpr unsigned address_byte(const Ipv6Address& address, unsigned depth) noexcept {
  return address[depth];
}

/// Longest-prefix match: a trie of 8-bit strides with prefixes pushed to the leaves. A lookup
/// reads one entry for each byte of the longest prefix on its way, at most sizeof(Address).
/// For tables of a few thousand prefixes (1 KiB per node). rte_lpm takes 64 MiB for any
/// number of prefixes, too much for a virtual topology of many switches.
///
/// Filled at start-up; lookups are const and do not allocate.
template <class Address>
class PrefixTrie {
 public:
  static constexpr std::uint16_t kMaxValue = 0x7FFE;
  static constexpr unsigned kBytes = sizeof(Address);

  PrefixTrie() { add_node(kNone); }

  /// @param address IPv4: host byte order; bits beyond `length` are ignored
  /// @param length 0 to 8 * kBytes. @param value <= kMaxValue
  void insert(const Address& address, unsigned length, std::uint16_t value) {
    assert(length <= 8 * kBytes && value <= kMaxValue);
    std::uint32_t node = 0;
    unsigned depth = 0;
    for (; length > (depth + 1) * 8; ++depth) node = child(node + address_byte(address, depth));
    const unsigned free_bits = (depth + 1) * 8 - length;
    const unsigned first = (address_byte(address, depth) >> free_bits) << free_bits;
    for (unsigned i = first; i < first + (1U << free_bits); ++i) fill(node + i, value, length);
  }

  [[nodiscard, gnu::always_inline]] std::optional<std::uint16_t> lookup(
      const Address& address) const noexcept {
    const Entry e = descend<1>(entries_[address_byte(address, 0)], address);
    const auto value = static_cast<std::uint16_t>(e);
    return value == kNone ? std::nullopt : std::optional(value);
  }

 private:
  /// Either kIsNode and the index of a node's first entry; or a value, or kNone, in the low 16
  /// bits, and above them the length of the prefix that set it.
  using Entry = std::uint32_t;
  static constexpr Entry kIsNode = 1U << 31;
  static constexpr std::uint16_t kNone = 0xFFFF;
  static_assert(8 * kBytes < 256 && kMaxValue < kNone);

  /// Returns the entry without a node below it that `e` leads to. A template instead of a loop,
  /// so that the shifts of the address are constants.
  template <unsigned kDepth>
  [[nodiscard, gnu::always_inline]] Entry descend(Entry e, const Address& address) const noexcept {
    if constexpr (kDepth < kBytes)
      if ((e & kIsNode) != 0)
        return descend<kDepth + 1>(
            entries_[std::size_t{e & ~kIsNode} + address_byte(address, kDepth)], address);
    return e;
  }

  /// Adds a node whose entries all are `e`. @return the index of its first entry
  std::uint32_t add_node(Entry e) {
    const std::size_t first = entries_.size();
    assert(first < kIsNode);
    for (unsigned i = 0; i < 256; ++i) entries_.push_back(e);
    return static_cast<std::uint32_t>(first);
  }

  /// Returns the node below an entry. A new one inherits what the entry says, as the shorter
  /// prefix answers where nothing longer does.
  std::uint32_t child(std::uint32_t at) {
    if ((entries_[at] & kIsNode) == 0) {
      const std::uint32_t node = add_node(entries_[at]);
      entries_[at] = kIsNode | node;
    }
    return entries_[at] & ~kIsNode;
  }

  void fill(std::uint32_t at, std::uint16_t value, unsigned length) {
    const Entry e = entries_[at];
    if ((e & kIsNode) != 0) {
      for (unsigned i = 0; i < 256; ++i) fill((e & ~kIsNode) + i, value, length);
    } else if (e >> 16 <= length) {
      entries_[at] = Entry{length} << 16 | value;
    }
  }

  std::vector<Entry> entries_;  ///< nodes of 256 entries each; the root is the first
};

using PrefixTable = PrefixTrie<std::uint32_t>;
using Ipv6PrefixTable = PrefixTrie<Ipv6Address>;

}  // namespace outrider
