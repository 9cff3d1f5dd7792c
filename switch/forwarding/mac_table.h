#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "switch/forwarding/mac_buckets.h"

namespace outrider {

/// Returns the group bit, the first on the wire: broadcast or multicast. (IEEE 802, 8.2)
constexpr bool is_group_mac(std::uint64_t mac) noexcept { return (mac >> 40 & 1) != 0; }

/// Counts packets' source addresses by the outcome of learn(), and entries.
/// Identity: learned == aged + dynamic entries.
struct MacTableCounters {
  std::uint64_t learned = 0;
  std::uint64_t moved = 0;           ///< was known at another port before
  std::uint64_t aged = 0;            ///< entries removed because their station was silent
  std::uint64_t refused_full = 0;    ///< new, but there was no room in the table
  std::uint64_t refused_source = 0;  ///< group or zero address as source
  std::uint64_t refused_static = 0;  ///< a static address, seen at another port
};

/// Remembers at which port a bridge has heard each station: (VLAN, MAC) -> port. Bounded,
/// with ageing. The entries are in MacBuckets.
///
/// Time is counted in ticks of 2^20 ns (about 1 ms), and ageing in epochs of a sixteenth of
/// `ageing`, rounded up to ticks. An entry expires after `ageing` plus at most one epoch and
/// one tick, and a station that is heard writes its line at most once an epoch. An expired
/// entry is not found any more. A new entry or sweep() reuses its slot.
///
/// learn() sweeps a few buckets after an epoch has begun, so that no entry outlives the five
/// bits of its age. Work proportional to the table is done at once only after a time in which
/// fewer than one station in fifty was heard per epoch, and to empty the table after silence.
///
/// Memory: that of MacBuckets. Not thread-safe.
class MacTable {
 public:
  struct Settings {
    std::uint32_t max_entries = 131072;           ///< > 0, static ones included
    Duration ageing = std::chrono::seconds(300);  ///< > 0. IEEE 802.1Q, 8.8.3: 300 s
  };
  /// kRefreshed: the station is known, and was heard for the first time in the current interval
  /// of an eighth to a quarter of `ageing`. A caller may use it to refresh a table of its own.
  enum class Learned : std::uint8_t { kKnown, kRefreshed, kNew, kMoved, kStatic, kFull, kRefused };

  explicit MacTable(const Settings& settings)
      : max_entries_(settings.max_entries),
        epoch_ticks_(divided_up(ticks_in(settings.ageing), kEpochs)),
        ageing_epochs_(divided_up(ticks_in(settings.ageing), epoch_ticks_)),
        refresh_shift_(static_cast<unsigned>(std::bit_width(ageing_epochs_ / 4 + 1)) - 1),
        buckets_(settings.max_entries) {
    assert(settings.max_entries > 0 && settings.ageing > Duration::zero());
  }

  /// Adds an entry that neither ages nor moves, and overwrites a learned one. For start-up.
  /// @param port < 32768, also in learn()
  /// @return false if there is no room for it
  [[nodiscard]] bool insert_static(MacKey key, std::uint16_t port) noexcept {
    assert(port < MacBuckets::kStaticBit);
    Slot slot = buckets_.find(key);
    if (!slot) {
      if (size_ < max_entries_) slot = slot_for(key);
      if (!slot) return false;
      ++size_;
    } else if (!slot.is_static()) {
      ++counters_.aged;
    }
    slot.set(key, port | MacBuckets::kStaticBit, 0);
    return true;
  }

  /// Notes that `key` was heard at `port`. A known station costs one lookup.
  /// @param now does not decrease
  Learned learn(MacKey key, std::uint16_t port, Time now) noexcept {
    if (is_group_mac(key.mac()) || key.mac() == 0) [[unlikely]] {
      ++counters_.refused_source;
      return Learned::kRefused;
    }
    assert(port < MacBuckets::kStaticBit);
    advance(tick_of(now));
    if (to_sweep_ != 0) [[unlikely]]
      sweep_due(kSweptAtOnce);
    const Slot slot = buckets_.find(key);
    if (!slot) [[unlikely]]
      return add(key, port);
    if (slot.is_static()) [[unlikely]]
      return hear_static(slot, port);
    bool refreshed = false;
    if (const std::uint64_t age = age_of(slot); age != 0) [[unlikely]] {
      if (age > ageing_epochs_) return renew(slot, port);
      refreshed = (epoch_ - age) >> refresh_shift_ != epoch_ >> refresh_shift_;
      slot.set_epoch(epoch_);
    }
    if (slot.port() == port) [[likely]]
      return refreshed ? Learned::kRefreshed : Learned::kKnown;
    slot.port_bits() = port;
    ++counters_.moved;
    return Learned::kMoved;
  }

  /// Returns the station's port, if it is known. @param now not before that of the last learn()
  [[nodiscard]] std::optional<std::uint16_t> find(MacKey key, Time now) const noexcept {
    const Slot slot = const_cast<MacBuckets&>(buckets_).find(key);
    if (!slot) return std::nullopt;
    const std::uint64_t tick = tick_of(now);
    const std::uint64_t since = tick < epoch_end_ ? 0 : tick / epoch_ticks_ - epoch_;
    if (!slot.is_static() && age_of(slot) + since > ageing_epochs_) return std::nullopt;
    return slot.port();
  }

  /// Prefetches what find() and learn() of the key read first.
  void prefetch(MacKey key) const noexcept { buckets_.prefetch(key); }

  /// Removes what has expired in the next `buckets` buckets, in a cycle through the table.
  void sweep(Time now, std::uint64_t buckets) noexcept {
    advance(tick_of(now));
    sweep_next(buckets);
  }

  /// Returns the entries that take a slot: static, live, and expired but not swept yet.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t max_entries() const noexcept { return max_entries_; }
  [[nodiscard]] std::size_t buckets() const noexcept { return buckets_.size(); }
  [[nodiscard]] const MacTableCounters& counters() const noexcept { return counters_; }

 private:
  using Slot = MacBuckets::Slot;

  static constexpr std::uint64_t kTickNs = 1U << 20;
  static constexpr std::uint64_t kEpochs = 16;      ///< per `ageing`
  static constexpr std::uint64_t kSweptAtOnce = 8;  ///< [buckets]
  /// All buckets are swept within this many epochs, while at most half of them are overdue. So an
  /// entry is removed at most kSweepEpochs + kSweepEpochs / 2 + 1 epochs after its last one.
  static constexpr std::uint64_t kSweepEpochs = 8;
  static_assert(kEpochs + kSweepEpochs + kSweepEpochs / 2 + 1 <= MacBuckets::kAgeMask,
                "ages stay distinct");

  static constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept {
    return (a + b - 1) / b;
  }
  static constexpr std::uint64_t ticks_in(Duration d) noexcept {
    return divided_up(static_cast<std::uint64_t>(d.count()), kTickNs);
  }
  static std::uint64_t tick_of(Time t) noexcept {
    return static_cast<std::uint64_t>(t.time_since_epoch().count()) / kTickNs;
  }
  /// Returns the age of a learned entry [epochs]. @pre advance() was called for now
  [[nodiscard]] std::uint64_t age_of(const Slot& slot) const noexcept {
    return (epoch_ - slot.epoch()) & MacBuckets::kAgeMask;
  }
  [[nodiscard]] bool expired(const Slot& slot) const noexcept {
    return !slot.is_static() && age_of(slot) > ageing_epochs_;
  }

  /// Returns a free slot for the key. Entries in the way that have expired go.
  [[nodiscard]] Slot slot_for(MacKey key) noexcept {
    return buckets_.slot_for(key, [this](const Slot& slot) {
      if (expired(slot)) remove(slot);
    });
  }

  void advance(std::uint64_t tick) noexcept {
    if (tick >= epoch_end_) [[unlikely]]
      begin_epoch(tick / epoch_ticks_);
  }
  /// Advances epoch by epoch, so that overdue entries are removed before their age is ambiguous.
  [[gnu::noinline]] void begin_epoch(std::uint64_t epoch) noexcept {
    if (epoch - epoch_ > ageing_epochs_) {
      forget_all();
      epoch_ = epoch;
    }
    while (epoch_ < epoch) {
      ++epoch_;
      to_sweep_ += divided_up(buckets_.size(), kSweepEpochs);
      if (to_sweep_ > buckets_.size() / 2) sweep_due(to_sweep_ - buckets_.size() / 2);
    }
    epoch_end_ = (epoch_ + 1) * epoch_ticks_;
  }
  /// Removes all learned entries, because nothing was heard for longer than `ageing`.
  void forget_all() noexcept {
    to_sweep_ = 0;
    if (size_ == 0) return;
    for (std::size_t b = 0; b < buckets_.size(); ++b)
      buckets_.each(b, [this](const Slot& slot) {
        if (!slot.is_static()) remove(slot);
      });
  }
  [[gnu::noinline]] void sweep_due(std::uint64_t buckets) noexcept {
    buckets = std::min(buckets, to_sweep_);
    to_sweep_ -= buckets;
    sweep_next(buckets);
  }
  void sweep_next(std::uint64_t buckets) noexcept {
    for (; buckets != 0; --buckets) {
      buckets_.each(swept_, [this](const Slot& slot) {
        if (expired(slot)) remove(slot);
      });
      if (++swept_ == buckets_.size()) swept_ = 0;
    }
  }

  void remove(const Slot& slot) noexcept {
    slot.free();
    --size_;
    ++counters_.aged;
  }

  [[gnu::noinline]] Learned hear_static(const Slot& slot, std::uint16_t port) noexcept {
    counters_.refused_static += slot.port() != port;
    return Learned::kStatic;
  }

  /// Counts an entry that had expired and was not swept yet as if it had been swept.
  [[gnu::noinline]] Learned renew(const Slot& slot, std::uint16_t port) noexcept {
    ++counters_.aged;
    ++counters_.learned;
    slot.set_epoch(epoch_);
    slot.port_bits() = port;
    return Learned::kNew;
  }

  [[gnu::noinline]] Learned add(MacKey key, std::uint16_t port) noexcept {
    sweep_next(kSweptAtOnce);
    const Slot slot = size_ < max_entries_ ? slot_for(key) : Slot{};
    if (!slot) {
      ++counters_.refused_full;
      return Learned::kFull;
    }
    slot.set(key, port, epoch_);
    ++size_;
    ++counters_.learned;
    return Learned::kNew;
  }

  std::uint32_t max_entries_;
  std::uint64_t epoch_ticks_;    ///< ticks of one epoch
  std::uint64_t ageing_epochs_;  ///< <= kEpochs
  unsigned refresh_shift_;       ///< epochs of a refresh interval, as a power of two
  std::uint32_t size_ = 0;
  std::uint64_t epoch_ = 0;      ///< epoch of the last learn() or sweep()
  std::uint64_t epoch_end_ = 0;  ///< [ticks], exclusive
  std::uint64_t to_sweep_ = 0;   ///< buckets that are due to be swept
  std::size_t swept_ = 0;
  MacBuckets buckets_;
  MacTableCounters counters_{};
};

}  // namespace outrider
