#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/flow_key.h"

namespace outrider {

/// A bounded set of flows that forgets old ones: a cache with four slots per bucket, one
/// cache line per bucket. A flow whose bucket is full replaces the flow that was added there
/// longest ago. Adding a flow again makes it recent. contains() reads one line.
///
/// Memory at construction: 16 B per flow, rounded up to a power of two. Not thread-safe.
class RecentFlows {
 public:
  /// @param flows > 0
  explicit RecentFlows(std::uint32_t flows)
      : buckets_(std::bit_ceil(std::max<std::size_t>(flows, kWays)) / kWays) {
    assert(flows > 0);
  }

  /// @return false if the flow was in the set already
  bool add(const FlowKey& flow) noexcept {
    Bucket& bucket = buckets_[home_of(flow)];
    Slot* oldest = &bucket.slots.front();
    ++clock_;
    for (Slot& slot : bucket.slots) {
      if (slot.added != 0 && slot.flow == flow) {
        slot.added = clock_;
        return false;
      }
      if (slot.added < oldest->added) oldest = &slot;
    }
    evicted_ += oldest->added != 0;
    *oldest = {flow, clock_};
    return true;
  }

  [[nodiscard]] bool contains(const FlowKey& flow) const noexcept {
    for (const Slot& slot : buckets_[home_of(flow)].slots)
      if (slot.added != 0 && slot.flow == flow) return true;
    return false;
  }

  [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }

 private:
  static constexpr std::size_t kWays = 4;
  struct Slot {
    FlowKey flow{};
    std::uint32_t added = 0;  ///< clock_ when added; 0: free. Wraps after 2^32 calls of add()
  };
  struct alignas(64) Bucket {
    std::array<Slot, kWays> slots{};
  };
  static_assert(sizeof(Bucket) == 64, "one cache line");

  [[nodiscard]] std::size_t home_of(const FlowKey& f) const noexcept {
    return hash_of(f) & (buckets_.size() - 1);
  }

  std::uint32_t clock_ = 0;
  std::uint64_t evicted_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace outrider
