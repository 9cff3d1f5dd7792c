#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/random.h"
#include "switch/report/flowlet_counters.h"

namespace outrider::sw {

/// The paths of flowlets: packets of a flow that follow one another more closely than a gap. A
/// flowlet keeps its path; the next one draws any path, also the same. Where a path is slow, the
/// flowlets on it end later, so that more of the load leaves it than comes to it.
///
/// Source: LetFlow (Vanini, Pan, Alizadeh, Taheri, Edsall, NSDI 2017, section 3), with the table of
/// CONGA (Alizadeh et al., SIGCOMM 2014, section 3.4). Their tables have no keys: flows with the
/// same hash share an entry. Here an entry has 32 bits of its flow's hash.
///
/// A flow's first flowlet takes the path of the plain hash. An entry whose gap is over has nothing
/// that is needed any more, so that any new flow may take it. If all entries of a bucket are within
/// their gaps, a new flow finds no place, and its packets take the path of the plain hash. So
/// strangers who fill the table leave the plain hash to others, and as soon as they are silent for
/// a gap there is room again. Buckets depend on a secret, see HashKey: nobody can choose flows that
/// fill the bucket of another one.
///
/// Memory: 16 B an entry, at construction. Not thread-safe.
class FlowletTable {
 public:
  static constexpr std::uint32_t kEntries = 65'536;  ///< that of CONGA, section 3.4

  /// @param entries  0: the table is never asked; else a power of two >= kWays
  FlowletTable(std::uint32_t entries, const RandomStream& random)
      : buckets_(entries / kWays), random_(random) {
    assert(buckets_.empty() || std::has_single_bit(buckets_.size()));
  }

  /// Returns which of `paths` paths a packet takes. @pre the table has entries
  /// @param by_hash  the path of the plain hash, below `paths`
  /// @param gap  > 0. @param now  does not decrease
  [[nodiscard]] std::uint32_t choose(const FlowKey& flow, std::uint32_t paths,
                                     std::uint32_t by_hash, Duration gap, Time now) noexcept {
    assert(!buckets_.empty() && by_hash < paths && gap > Duration::zero());
    const std::uint64_t hash = hash_of(flow);
    Bucket& bucket = buckets_[hash & (buckets_.size() - 1)];
    const std::uint32_t tag = static_cast<std::uint32_t>(hash >> 32) | kUsed;
    const auto known = std::ranges::find(bucket, tag, &Entry::tag);
    const auto entry =
        known != bucket.end() ? known : std::ranges::min_element(bucket, {}, &Entry::until);
    const bool live = entry->until >= now;
    if (known == bucket.end()) {
      if (entry->tag != kFree && live) {
        ++counters_.flowlets_no_room;
        return by_hash;
      }
      *entry = {.tag = tag, .path = static_cast<std::uint16_t>(by_hash)};
      ++counters_.flowlets_begun;
    } else if (!live || entry->path >= paths) {  // a reload may have taken paths away
      entry->path = static_cast<std::uint16_t>(std::uint64_t{random_.next_u32()} * paths >> 32);
      ++counters_.flowlets_begun;
    }
    entry->until = now + gap;
    return entry->path;
  }

  /// Takes over counters and random numbers of the table that this one replaces.
  void inherit(const FlowletTable& before) noexcept {
    random_ = before.random_;
    counters_ = before.counters_;
  }

  [[nodiscard]] const FlowletCounters& counters() const noexcept { return counters_; }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint32_t kUsed = 1;
  static constexpr std::uint32_t kFree = 0;

  struct Entry {
    std::uint32_t tag = kFree;  ///< of the flow's hash, with kUsed
    std::uint16_t path = 0;
    Time until{};  ///< end of the gap after the last packet
  };
  using Bucket = std::array<Entry, kWays>;
  static_assert(sizeof(Bucket) == 64, "one cache line");

  std::vector<Bucket> buckets_;
  RandomStream random_;
  FlowletCounters counters_{};
};

}  // namespace outrider::sw
