#pragma once

#include <array>
#include <cstdint>

namespace outrider {

/// The secret of the hashes of tables that strangers can fill.
///
/// Somebody who knows a table's hash function can choose addresses and ports that all fall into
/// one run of slots, so that each packet costs a search of thousands of them. With a secret in
/// the function nobody can choose such keys in advance: a table that is half full has runs of
/// some dozens of slots, whoever filled it. The hash is not a message authentication code:
/// somebody who can measure what single packets cost may still find a few keys that share a run.
struct HashKey {
  std::array<std::uint64_t, 4> words{};
};

/// Mixes two words with a key. Every bit of either reaches every bit of the result, and which
/// inputs have results in common depends on the key: it is in the factors of a product, where a
/// secret that is only added to the input or to the result would leave collisions as they are.
///
/// Source: folded multiplication of wyhash (Wang Yi, "Modern non-cryptographic hash function and
/// pseudorandom number generator", 2019), with secret words in place of its constants.
constexpr std::uint64_t keyed_mix(std::uint64_t a, std::uint64_t b, const HashKey& key) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide once = Wide{a ^ key.words[0]} * (b ^ key.words[1]);
  const Wide twice = Wide{static_cast<std::uint64_t>(once) ^ key.words[2]} *
                     (static_cast<std::uint64_t>(once >> 64) ^ key.words[3]);
  return static_cast<std::uint64_t>(twice) ^ static_cast<std::uint64_t>(twice >> 64);
}

/// The key of a process that sets none: virtual time, tools and tests, whose results are to be
/// the same in every run. Fractional digits of pi.
inline constexpr HashKey kPublicHashKey{
    {0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89}};

/// Holds the key of all hash tables of this process. There is one, and not one a table, because
/// tables are deep inside of components that have nothing to do with entropy. main() of a
/// program with real devices sets it before it makes the first table and starts an lcore; from
/// then on it is constant, and every lcore may read it.
class ProcessHashKey {
 public:
  /// @pre no table holds an entry, and no other thread hashes
  static void set(const HashKey& key) noexcept { in_force = key; }
  [[nodiscard]] static const HashKey& get() noexcept { return in_force; }

 private:
  alignas(64) static inline constinit HashKey in_force = kPublicHashKey;  ///< read for each packet
};

}  // namespace outrider
