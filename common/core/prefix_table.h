#pragma once

#include <array>
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

  PrefixTrie() { nodes_.emplace_back(); }

  /// @param address IPv4: host byte order; bits beyond `length` are ignored
  /// @param length 0 to 8 * kBytes. @param value <= kMaxValue
  void insert(const Address& address, unsigned length, std::uint16_t value) {
    assert(length <= 8 * kBytes && value <= kMaxValue);
    std::size_t node = 0;
    unsigned depth = 0;
    for (; length > (depth + 1) * 8; ++depth) node = child(node, address_byte(address, depth));
    const unsigned free_bits = (depth + 1) * 8 - length;
    const unsigned first = (address_byte(address, depth) >> free_bits) << free_bits;
    for (unsigned i = first; i < first + (1U << free_bits); ++i) fill(node, i, value, length);
  }

  [[nodiscard]] std::optional<std::uint16_t> lookup(const Address& address) const noexcept {
    std::size_t node = 0;
    for (unsigned depth = 0; depth < kBytes; ++depth) {
      const Entry e = nodes_[node][address_byte(address, depth)];
      if (!e.is_child) {
        if (e.target == kNone) return std::nullopt;
        return static_cast<std::uint16_t>(e.target);
      }
      node = e.target;
    }
    return std::nullopt;  // not reached: the last stride has no children
  }

 private:
  static constexpr std::uint32_t kNone = 0x7FFFFF;
  struct Entry {
    std::uint32_t target : 23 = kNone;  ///< node index, or value, or kNone
    std::uint32_t is_child : 1 = 0;
    std::uint32_t length : 8 = 0;  ///< of the prefix that set the value
  };
  static_assert(sizeof(Entry) == 4 && 8 * kBytes < 256);
  using Node = std::array<Entry, 256>;

  std::size_t child(std::size_t node, unsigned index) {
    if (nodes_[node][index].is_child == 0U) {
      const Entry inherited = nodes_[node][index];
      const auto created = static_cast<std::uint32_t>(nodes_.size());
      assert(created < kNone);
      nodes_.emplace_back().fill(
          inherited);  // the shorter prefix answers where nothing longer does
      nodes_[node][index].target = created & kNone;
      nodes_[node][index].is_child = 1;
    }
    return nodes_[node][index].target;
  }

  void fill(std::size_t node, unsigned index, std::uint16_t value, unsigned length) {
    if (nodes_[node][index].is_child != 0U) {
      const std::size_t below = nodes_[node][index].target;
      for (unsigned i = 0; i < 256; ++i) fill(below, i, value, length);
    } else if (nodes_[node][index].target == kNone || nodes_[node][index].length <= length) {
      nodes_[node][index].target = value;
      nodes_[node][index].length = length & 0xFF;
    }
  }

  std::vector<Node> nodes_;
};

using PrefixTable = PrefixTrie<std::uint32_t>;
using Ipv6PrefixTable = PrefixTrie<Ipv6Address>;

}  // namespace outrider
