#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/hash_key.h"

namespace outrider {

/// Identifies a station of a bridge: VLAN and MAC address in one number.
struct MacKey {
  static constexpr std::uint16_t kAnyVlan = 0xFFF;  ///< reserved by IEEE 802.1Q: no frame has it
  static constexpr std::uint64_t kMacMask = 0xFFFF'FFFF'FFFF;

  std::uint64_t bits = 0;

  /// @param vlan VID, 0 to 4094, or kAnyVlan. @param mac its six bytes as a number
  static constexpr MacKey of(std::uint16_t vlan, std::uint64_t mac) noexcept {
    return {(std::uint64_t{vlan} << 48) | (mac & kMacMask)};
  }
  [[nodiscard]] constexpr std::uint64_t mac() const noexcept { return bits & kMacMask; }
  bool operator==(const MacKey&) const = default;
};

/// The hash table under a MacTable: key -> port and the epoch in which it was heard.
///
/// A bucket holds six entries in one cache line. A key lives in one of two buckets, so find()
/// nearly always reads one line and never more than two. To keep the table small, for caches
/// and their page tables, as many as three quarters of its slots are promised to entries. If
/// both buckets of a new entry are full, one neighbour is moved to its other bucket. This
/// fails with a probability of the order of 1e-7 per new entry. Buckets depend on a secret, see
/// HashKey, so that nobody can choose addresses that fill the buckets of a station and keep it
/// out.
///
/// Memory: 64 B per 4.5 entries, at construction. Not thread-safe.
class MacBuckets {
 public:
  static constexpr unsigned kAgeBits = 5;
  static constexpr std::uint32_t kAgeMask = (1U << kAgeBits) - 1;
  static constexpr std::uint16_t kStaticBit = 0x8000;  ///< of a port in a bucket
  static constexpr unsigned kWays = 6;

  struct alignas(64) Bucket {
    std::array<std::uint64_t, kWays> ids{};    ///< key with kUsedBit; 0: free
    std::array<std::uint16_t, kWays> ports{};  ///< port, with kStaticBit if static
    std::uint32_t epochs = 0;                  ///< kAgeBits each: epoch when it was heard, modulo
  };
  static_assert(sizeof(Bucket) == 64 && kWays * kAgeBits <= 32, "one cache line");

  /// Refers to an entry of a bucket, or to none.
  struct Slot {
    Bucket* bucket = nullptr;
    unsigned way = 0;

    explicit operator bool() const noexcept { return bucket != nullptr; }
    [[nodiscard]] bool is_free() const noexcept { return bucket->ids[way] == 0; }
    void free() const noexcept { bucket->ids[way] = 0; }
    [[nodiscard]] MacKey key() const noexcept { return {bucket->ids[way] & ~kUsedBit}; }
    /// Returns the port with kStaticBit.
    [[nodiscard]] std::uint16_t& port_bits() const noexcept { return bucket->ports[way]; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_bits() & ~kStaticBit; }
    [[nodiscard]] bool is_static() const noexcept { return (port_bits() & kStaticBit) != 0; }
    [[nodiscard]] std::uint32_t epoch() const noexcept {
      return bucket->epochs >> (way * kAgeBits) & kAgeMask;
    }
    void set_epoch(std::uint64_t epoch) const noexcept {
      const std::uint32_t low = static_cast<std::uint32_t>(epoch) & kAgeMask;
      bucket->epochs = (bucket->epochs & ~(kAgeMask << (way * kAgeBits))) | low << (way * kAgeBits);
    }
    void set(MacKey key, std::uint16_t bits, std::uint64_t epoch) const noexcept {
      bucket->ids[way] = key.bits | kUsedBit;
      port_bits() = bits;
      set_epoch(epoch);
    }
  };

  /// @param max_entries  that are promised a slot, > 0
  explicit MacBuckets(std::uint32_t max_entries)
      : buckets_((std::size_t{max_entries} * 4 + kWays * 3 - 1) / (kWays * 3) + kMoreBuckets) {}

  [[nodiscard]] Slot find(MacKey key) noexcept {
    const std::uint64_t mixed = mix(key);
    if (const Slot slot = find_in(buckets_[first_of(mixed)], key)) [[likely]]
      return slot;
    return find_in(buckets_[second_of(mixed)], key);
  }
  /// Prefetches what find() reads first.
  void prefetch(MacKey key) const noexcept { __builtin_prefetch(&buckets_[first_of(mix(key))]); }

  /// Returns a free slot of the key's buckets, made by moving a neighbour if necessary.
  /// @param expire  called for entries that are in the way; frees the slot if the entry may go
  /// @return no slot: both buckets are full, and so are those of their entries
  template <class Expire>
  [[nodiscard]] Slot slot_for(MacKey key, Expire&& expire) noexcept {
    const std::uint64_t mixed = mix(key);
    const std::array<std::size_t, 2> own = {first_of(mixed), second_of(mixed)};
    for (const std::size_t b : own)
      if (const Slot free = free_in(buckets_[b], expire)) return free;
    for (const std::size_t b : own) {
      for (unsigned way = 0; way < kWays; ++way) {
        const Slot slot{&buckets_[b], way};
        const std::uint64_t its = mix(slot.key());
        const std::size_t other = first_of(its) == b ? second_of(its) : first_of(its);
        if (other == b) continue;
        if (const Slot free = free_in(buckets_[other], expire)) {
          free.set(slot.key(), slot.port_bits(), slot.epoch());
          slot.free();
          return slot;
        }
      }
    }
    return {};
  }

  /// Calls `act(slot)` for every entry of a bucket. @pre bucket < size()
  template <class Act>
  void each(std::size_t bucket, Act&& act) noexcept {
    for (unsigned way = 0; way < kWays; ++way)
      if (const Slot slot{&buckets_[bucket], way}; !slot.is_free()) act(slot);
  }
  [[nodiscard]] std::size_t size() const noexcept { return buckets_.size(); }

 private:
  static constexpr std::uint64_t kMoreBuckets = 16;  ///< small tables fill less evenly
  static constexpr std::uint64_t kUsedBit = std::uint64_t{1} << 63;  ///< above a key's 60 bits

  /// Mixes a key for both of its buckets.
  static std::uint64_t mix(MacKey key) noexcept {
    return keyed_mix(key.bits, 0, ProcessHashKey::get());
  }
  /// Maps to [0, size()) without a division. (D. Lemire, Fast random integer generation in an
  /// interval, 2019, section 4)
  [[nodiscard]] std::size_t first_of(std::uint64_t mixed) const noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(Wide{mixed} * buckets_.size() >> 64);
  }
  [[nodiscard]] std::size_t second_of(std::uint64_t mixed) const noexcept {
    return first_of((mixed << 32 | mixed >> 32) * 0xC4CEB9FE1A85EC53ULL);
  }
  /// Compares all ways without a branch, because the matching way cannot be predicted.
  static Slot find_in(Bucket& bucket, MacKey key) noexcept {
    unsigned found = kWays;
    for (unsigned way = 0; way < kWays; ++way)
      found = bucket.ids[way] == (key.bits | kUsedBit) ? way : found;
    return found == kWays ? Slot{} : Slot{&bucket, found};
  }
  template <class Expire>
  static Slot free_in(Bucket& bucket, Expire& expire) noexcept {
    for (unsigned way = 0; way < kWays; ++way) {
      const Slot slot{&bucket, way};
      if (!slot.is_free()) expire(slot);
      if (slot.is_free()) return slot;
    }
    return {};
  }

  std::vector<Bucket> buckets_;
};

}  // namespace outrider
