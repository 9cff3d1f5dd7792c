#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/net/headers.h"

namespace outrider {

/// Returns the one's-complement sum of 16-bit words in memory order, neither folded nor
/// inverted. To sum several ranges, pass the result of one as `sum` of the next; all but the
/// last must have an even length. (RFC 1071)
inline std::uint64_t checksum_add(std::span<const std::uint8_t> bytes, std::uint64_t sum) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    sum += (word & 0xFFFFFFFF) + (word >> 32);
  }
  if (i + 4 <= bytes.size()) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + i, 4);
    sum += word;
    i += 4;
  }
  if (i + 2 <= bytes.size()) {
    std::uint16_t word;
    std::memcpy(&word, bytes.data() + i, 2);
    sum += word;
    i += 2;
  }
  if (i < bytes.size()) sum += bytes[i];  // padded with zero; the machine is little-endian
  return sum;
}

/// Adds the five words of a header without options to `sum`, one load each: copied to an array, the
/// compiler takes them through memory.
[[gnu::always_inline]] inline std::uint64_t checksum_add_five(const std::uint8_t* bytes,
                                                              std::uint64_t sum) noexcept {
  const auto word = [bytes](std::size_t i) {
    std::uint32_t w;
    std::memcpy(&w, bytes + 4 * i, sizeof w);
    return std::uint64_t{w};
  };
  return sum + word(0) + word(1) + word(2) + word(3) + word(4);
}

/// Returns the sum as 16 bits, with the carries added in. The upper half of x + (x with its halves
/// exchanged) is the sum of both halves plus its own carry, so one addition folds each time.
constexpr std::uint16_t checksum_fold(std::uint64_t sum) noexcept {
  const auto half = static_cast<std::uint32_t>((sum + std::rotl(sum, 32)) >> 32);
  return static_cast<std::uint16_t>((half + std::rotl(half, 16)) >> 16);
}

/// Adds the options of a header to `sum`. @pre the header has options
[[gnu::noinline]] inline std::uint64_t ipv4_options_sum(const Ipv4Header& h,
                                                        std::uint64_t sum) noexcept {
  const auto* options = reinterpret_cast<const std::uint8_t*>(&h) + sizeof(Ipv4Header);
  return checksum_add({options, h.header_bytes() - sizeof(Ipv4Header)}, sum);
}

/// Returns the sum over an IPv4 header, checksum field included. As nearly every header has no
/// options, its five words are added inline and without a loop.
[[gnu::always_inline]] inline std::uint64_t ipv4_header_sum(const Ipv4Header& h) noexcept {
  const std::uint64_t sum = checksum_add_five(reinterpret_cast<const std::uint8_t*>(&h), 0);
  if (h.header_bytes() <= sizeof(Ipv4Header)) [[likely]]
    return sum;
  return ipv4_options_sum(h, sum);
}

/// Returns the value for the IPv4 checksum field, in memory order. The field may hold any
/// value.
inline std::uint16_t ipv4_checksum(const Ipv4Header& h) noexcept {
  std::uint16_t field;
  std::memcpy(&field, h.checksum.raw.data(), sizeof field);
  // x + ~x is zero in one's complement, which removes the field from the sum.
  return static_cast<std::uint16_t>(
      ~checksum_fold(ipv4_header_sum(h) + static_cast<std::uint16_t>(~field)));
}

/// Returns whether a sum over something and its checksum is right, which is if it folds to 0xFFFF:
/// if it is a multiple of that and not zero. One multiplication tells that without the folding.
constexpr bool checksum_sum_valid(std::uint64_t sum) noexcept {
  return sum != 0 && sum % 0xFFFF == 0;
}

/// Returns whether the header sums to 0xFFFF, checksum field included.
inline bool ipv4_checksum_valid(const Ipv4Header& h) noexcept {
  return checksum_sum_valid(ipv4_header_sum(h));
}

/// Returns the sum over a TCP header without its options. Five words, as they were written.
[[gnu::always_inline]] inline std::uint64_t tcp_fixed_header_sum(
    const std::uint8_t* bytes) noexcept {
  return checksum_add_five(bytes, 0);
}

/// Returns the part of the TCP checksum that comes from the pseudo header.
/// @param tcp_bytes TCP header and payload [bytes]
inline std::uint64_t tcp_pseudo_header_sum(const Ipv4Header& ip, std::uint16_t tcp_bytes) noexcept {
  std::uint32_t words[2];
  std::memcpy(words, &ip.source, sizeof words);
  return std::uint64_t{words[0]} + words[1] + be16(kIpProtocolTcp) + be16(tcp_bytes);
}

/// Returns the checksum after one 16-bit word of a summed header was replaced.
/// Source: RFC 1624, equation 3, HC' = ~(~HC + ~m + m'). Unlike RFC 1141 it
/// never turns a valid checksum into 0xFFFF wrongly. All in memory order.
constexpr std::uint16_t checksum_update(std::uint16_t checksum, std::uint16_t old_word,
                                        std::uint16_t new_word) noexcept {
  const std::uint64_t sum = static_cast<std::uint64_t>(static_cast<std::uint16_t>(~checksum)) +
                            static_cast<std::uint16_t>(~old_word) + new_word;
  return static_cast<std::uint16_t>(~checksum_fold(sum));
}

}  // namespace outrider
