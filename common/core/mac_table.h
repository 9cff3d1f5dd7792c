#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// A station as a bridge knows it: VLAN and MAC address in one number.
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

/// The group bit, the first on the wire: broadcast or multicast. (IEEE 802, 8.2)
constexpr bool is_group_mac(std::uint64_t mac) noexcept { return (mac >> 40 & 1) != 0; }

/// Packets' source addresses by what learn() made of them, and entries.
/// Identity: learned == aged + dynamic entries.
struct MacTableCounters {
  std::uint64_t learned = 0;
  std::uint64_t moved = 0;           ///< known at another port before
  std::uint64_t aged = 0;            ///< entries removed because nothing was heard of them
  std::uint64_t refused_full = 0;    ///< new, but the table is full
  std::uint64_t refused_source = 0;  ///< group or zero address as source
  std::uint64_t refused_static = 0;  ///< a static address, heard at another port
};

/// Where a bridge has heard stations: (VLAN, MAC) -> port, bounded, with ageing.
///
/// Buckets of four entries, one cache line each; a key lives in one of two buckets, so
/// find() reads one line nearly always and two at most, whatever is asked for. A new
/// entry whose buckets are both full has one neighbour moved to its other bucket: at
/// half load, which the size guarantees, refusal for lack of a place is of the order of
/// 1e-7, and is counted as full. No work grows with the number of entries.
///
/// Time is counted in ticks of 2^20 ns (about 1 ms): an entry is gone after `ageing`,
/// rounded up, plus at most one tick. It is not found from then on; its place is taken
/// by whoever needs it, or by sweep().
///
/// Memory: 32 B an entry of max_entries, as a power of two, at construction. Not thread-safe.
class MacTable {
 public:
  struct Settings {
    std::uint32_t max_entries = 131072;           ///< > 0, static ones included
    Duration ageing = std::chrono::seconds(300);  ///< > 0. IEEE 802.1Q, 8.8.3: 300 s
  };
  /// kRefreshed: known, and not heard in this quarter to eighth of the ageing time before,
  /// so that who keeps a table of its own may want to hear of it again.
  enum class Learned : std::uint8_t { kKnown, kRefreshed, kNew, kMoved, kStatic, kFull, kRefused };

  explicit MacTable(const Settings& settings)
      : max_entries_(settings.max_entries),
        ageing_ticks_((static_cast<std::uint64_t>(settings.ageing.count()) + kTickNs - 1) /
                      kTickNs),
        refresh_shift_(static_cast<unsigned>(std::bit_width(ageing_ticks_ / 4 + 1)) - 1),
        buckets_(std::bit_ceil(std::max(std::size_t{2} * settings.max_entries, 2 * kWays)) /
                 kWays) {
    assert(settings.max_entries > 0 && settings.ageing > Duration::zero());
  }

  /// An entry that neither ages nor moves; overwrites a learned one. At start-up.
  /// @return false if there is no place
  [[nodiscard]] bool insert_static(MacKey key, std::uint16_t port) noexcept {
    Entry* entry = find_entry(key);
    if (entry == nullptr) entry = size_ < max_entries_ ? place_for(key, 0) : nullptr;
    if (entry == nullptr) return false;
    if (entry->key == MacKey{}) ++size_;
    else if (entry->is_static == 0) ++counters_.aged;
    *entry = {key, 0, 1, port};
    return true;
  }

  /// Notes that `key` was heard at `port`. A known station costs one lookup.
  Learned learn(MacKey key, std::uint16_t port, Time now) noexcept {
    if (is_group_mac(key.mac()) || key.mac() == 0) [[unlikely]] {
      ++counters_.refused_source;
      return Learned::kRefused;
    }
    const std::uint64_t tick = tick_of(now);
    Entry* entry = find_entry(key);
    if (entry == nullptr) [[unlikely]]
      return add(key, port, tick);
    if (entry->is_static != 0) return hear_static(*entry, port);
    bool refreshed = false;
    if (entry->seen_tick != tick) {
      if (expired(*entry, tick)) return renew(*entry, port, tick);
      refreshed = entry->seen_tick >> refresh_shift_ != tick >> refresh_shift_;
      entry->seen_tick = tick & kTickMask;
    }
    if (entry->port == port) [[likely]]
      return refreshed ? Learned::kRefreshed : Learned::kKnown;
    entry->port = port;
    ++counters_.moved;
    return Learned::kMoved;
  }

  [[nodiscard]] std::optional<std::uint16_t> find(MacKey key, Time now) const noexcept {
    const Entry* entry = const_cast<MacTable*>(this)->find_entry(key);
    if (entry == nullptr || expired(*entry, tick_of(now))) return std::nullopt;
    return static_cast<std::uint16_t>(entry->port);
  }

  /// Starts to fetch what find() and learn() of that key read first.
  void prefetch(MacKey key) const noexcept { __builtin_prefetch(&buckets_[first_of(key)]); }

  /// Removes what has expired in the next `buckets` buckets, round and round.
  void sweep(Time now, std::uint32_t buckets) noexcept {
    const std::uint64_t tick = tick_of(now);
    for (; buckets != 0; --buckets) {
      for (Entry& e : buckets_[swept_].entries)
        if (e.key != MacKey{} && expired(e, tick)) remove(e);
      swept_ = (swept_ + 1) & mask();
    }
  }

  /// Entries that take a place: static, live, and expired ones not yet swept.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t max_entries() const noexcept { return max_entries_; }
  [[nodiscard]] std::size_t buckets() const noexcept { return buckets_.size(); }
  [[nodiscard]] const MacTableCounters& counters() const noexcept { return counters_; }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint64_t kTickNs = 1U << 20;
  static constexpr std::uint64_t kTickMask = (std::uint64_t{1} << 47) - 1;
  static constexpr std::uint32_t kSweptPerNew = 8;  ///< buckets

  struct Entry {
    MacKey key{};  ///< zero: free. No station has VLAN 0 and address 0
    std::uint64_t seen_tick : 47 = 0;
    std::uint64_t is_static : 1 = 0;
    std::uint64_t port : 16 = 0;
  };
  struct alignas(64) Bucket {
    std::array<Entry, kWays> entries{};
  };
  static_assert(sizeof(Bucket) == 64, "one cache line");

  static std::uint64_t tick_of(Time t) noexcept {
    return static_cast<std::uint64_t>(t.time_since_epoch().count()) / kTickNs;
  }
  /// Both buckets come from one product: its high half and its middle are independent
  /// enough, and vendors number their cards in sequence.
  static std::uint64_t mix(MacKey key) noexcept {
    const std::uint64_t x = key.bits ^ (key.bits >> 29);
    const std::uint64_t y = x * 0x9E3779B97F4A7C15ULL;
    return y ^ (y >> 32);
  }
  [[nodiscard]] std::size_t mask() const noexcept { return buckets_.size() - 1; }
  [[nodiscard]] std::size_t first_of(MacKey key) const noexcept { return mix(key) & mask(); }
  [[nodiscard]] std::size_t second_of(MacKey key) const noexcept {
    return (mix(key) * 0xC4CEB9FE1A85EC53ULL >> 32) & mask();
  }
  [[nodiscard]] bool expired(const Entry& e, std::uint64_t tick) const noexcept {
    return e.is_static == 0 && tick > e.seen_tick + ageing_ticks_;
  }

  static Entry* find_in(Bucket& bucket, MacKey key) noexcept {
    for (Entry& e : bucket.entries)
      if (e.key == key) return &e;
    return nullptr;
  }
  [[nodiscard]] Entry* find_entry(MacKey key) noexcept {
    if (Entry* e = find_in(buckets_[first_of(key)], key)) [[likely]]
      return e;
    return find_in(buckets_[second_of(key)], key);
  }

  void remove(Entry& e) noexcept {
    e = {};
    --size_;
    ++counters_.aged;
  }

  Learned hear_static(const Entry& e, std::uint16_t port) noexcept {
    counters_.refused_static += e.port != port;
    return Learned::kStatic;
  }

  /// It had expired and was not swept yet: the same as if it had been.
  Learned renew(Entry& e, std::uint16_t port, std::uint64_t tick) noexcept {
    ++counters_.aged;
    ++counters_.learned;
    e.seen_tick = tick & kTickMask;
    e.port = port;
    return Learned::kNew;
  }

  Learned add(MacKey key, std::uint16_t port, std::uint64_t tick) noexcept {
    sweep(Time{Duration{static_cast<std::int64_t>(tick * kTickNs)}}, kSweptPerNew);
    Entry* place = size_ < max_entries_ ? place_for(key, tick) : nullptr;
    if (place == nullptr) {
      ++counters_.refused_full;
      return Learned::kFull;
    }
    *place = {key, tick & kTickMask, 0, port};
    ++size_;
    ++counters_.learned;
    return Learned::kNew;
  }

  /// A free entry of the key's buckets, made by moving a neighbour if need be.
  Entry* place_for(MacKey key, std::uint64_t tick) noexcept {
    for (const std::size_t b : {first_of(key), second_of(key)})
      if (Entry* free = free_in(buckets_[b], tick)) return free;
    for (const std::size_t b : {first_of(key), second_of(key)}) {
      for (Entry& e : buckets_[b].entries) {
        const std::size_t other = first_of(e.key) == b ? second_of(e.key) : first_of(e.key);
        if (other == b) continue;
        if (Entry* free = free_in(buckets_[other], tick)) {
          *free = e;
          e = {};
          return &e;
        }
      }
    }
    return nullptr;
  }
  Entry* free_in(Bucket& bucket, std::uint64_t tick) noexcept {
    for (Entry& e : bucket.entries) {
      if (e.key != MacKey{} && expired(e, tick)) remove(e);
      if (e.key == MacKey{}) return &e;
    }
    return nullptr;
  }

  std::uint32_t max_entries_;
  std::uint64_t ageing_ticks_;
  unsigned refresh_shift_;
  std::uint32_t size_ = 0;
  std::size_t swept_ = 0;
  std::vector<Bucket> buckets_;
  MacTableCounters counters_{};
};

}  // namespace outrider
