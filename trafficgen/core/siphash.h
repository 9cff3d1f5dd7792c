#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace outrider {

/// A key of siphash().
struct SipKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// SipHash-2-4: a hash of short inputs that nobody without the key can predict.
///
/// Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012; checked against
/// the vectors published with it.
constexpr std::uint64_t siphash(std::span<const std::uint8_t> bytes, const SipKey& key) noexcept {
  std::uint64_t a = key.low ^ 0x736f6d6570736575ULL, b = key.high ^ 0x646f72616e646f6dULL;
  std::uint64_t c = key.low ^ 0x6c7967656e657261ULL, d = key.high ^ 0x7465646279746573ULL;
  const auto rounds = [&](int n) {
    for (; n > 0; --n) {
      a += b, c += d;
      b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b, a += d;
      b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  };
  const auto take = [&](std::uint64_t word) {
    d ^= word;
    rounds(2);
    a ^= word;
  };
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= std::uint64_t{bytes[i]} << (8 * (i % 8));
    if (i % 8 != 7) continue;
    take(word);
    word = 0;
  }
  take(word | std::uint64_t{bytes.size()} << 56);
  c ^= 0xFF;
  rounds(4);
  return a ^ b ^ c ^ d;
}

}  // namespace outrider
