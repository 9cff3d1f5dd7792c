#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "switch/regulation/regulator/flow_memory.h"

namespace outrider {

/// Knows which senders have had grants and left the queue idle with them, while others waited.
///
/// A sender may waste a quarter of the time, and `forgiven` at once: what it wastes beyond that is
/// its debt, which time pays off. The bursts of a sender in debt take no room, so that nobody waits
/// for them. The caller says what was wasted.
///
/// When it knows as many senders as it may, it forgets the one that came in first. O(1), allocates
/// only at construction. Not thread-safe.
///
/// Source: the virtual scheduling algorithm of ITU-T I.371, annex A, for time instead of cells.
class GrantDebts {
 public:
  static constexpr int kShare = 4;  ///< a sender may waste one part in so many

  /// @param senders  that are known at a time, > 0
  GrantDebts(std::uint32_t senders, Duration forgiven)
      : forgiven_(forgiven), paid_off_at_(senders) {}

  /// The sender has wasted that time before `now`. @param wasted >= 0
  void charge(const FlowKey& sender, Duration wasted, Time now) noexcept {
    assert(wasted >= Duration::zero());
    const Time* known = paid_off_at_.find(sender);
    const Time from = known == nullptr ? now : std::max(*known, now);
    paid_off_at_.put(sender, from + kShare * wasted);
  }
  [[nodiscard]] bool in_debt(const FlowKey& sender, Time now) const noexcept {
    const Time* known = paid_off_at_.find(sender);
    return known != nullptr && *known - now > kShare * forgiven_;
  }

 private:
  Duration forgiven_;
  FlowMemory<Time> paid_off_at_;  ///< sender -> when it has wasted no more than its share
};

}  // namespace outrider
