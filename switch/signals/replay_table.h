#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "common/core/recency_list.h"
#include "common/core/replay_window.h"

namespace outrider::sw {

/// Tells which messages under one key were seen before, for each source.
///
/// It remembers kSources sources. A further one takes the place of the one that was silent for
/// longest, if that was for kIdle at least. Whatever that one sent stays refused: from then on no
/// source without a window may begin with a counter that is not greater. Counters follow the
/// senders' clocks, so a new sender is above it if its clock is not kIdle behind. If all sources
/// are active, the newcomer is refused. Only a message that is new keeps a source active, so
/// nobody holds a place by repeating messages of others.
///
/// O(1) but for the window, see there. Allocates only at construction. Not thread-safe.
class ReplayTable {
 public:
  static constexpr std::uint32_t kSources = 1024;
  static constexpr Duration kIdle = std::chrono::seconds(10);

  enum class Verdict : std::uint8_t { kNew, kReplayed, kNoRoom };

  /// @param floor  no counter up to this one is new
  explicit ReplayTable(std::uint64_t floor) : floor_(floor), index_(kSources), recency_(kSources) {
    sources_.reserve(kSources);
  }

  /// Judges a message whose tag is right. If it is new, it is not new again.
  [[nodiscard]] Verdict take(std::uint32_t source, std::uint64_t counter, Time now) noexcept {
    const std::uint32_t* known = index_.find({.source_address = source});
    if (known == nullptr) return begin(source, counter, now);
    Source& of = sources_[*known];
    if (!of.window.take(counter)) return Verdict::kReplayed;
    of.last_used = std::max(of.last_used, now);
    recency_.touch(*known);
    return Verdict::kNew;
  }

 private:
  struct Source {
    std::uint32_t address = 0;
    Time last_used{};
    ReplayWindow window{};
  };

  /// @pre the source has no window
  Verdict begin(std::uint32_t source, std::uint64_t counter, Time now) noexcept {
    if (counter <= floor_) return Verdict::kReplayed;
    auto position = static_cast<std::uint32_t>(sources_.size());
    if (position == kSources) {
      position = recency_.oldest();
      const Source& oldest = sources_[position];
      if (now - oldest.last_used < kIdle) return Verdict::kNoRoom;
      if (counter <= oldest.window.greatest()) return Verdict::kReplayed;
      floor_ = std::max(floor_, oldest.window.greatest());
      recency_.remove(position);
      index_.erase({.source_address = oldest.address});
    } else {
      sources_.emplace_back();
    }
    sources_[position] = {source, now, ReplayWindow(floor_)};
    sources_[position].window.take(counter);
    index_.insert({.source_address = source}, position);
    recency_.add(position);
    return Verdict::kNew;
  }

  std::uint64_t floor_;
  FlowTable<std::uint32_t> index_;  ///< source -> its position in sources_
  std::vector<Source> sources_;     ///< capacity kSources
  RecencyList recency_;             ///< of sources_
};

}  // namespace outrider::sw
