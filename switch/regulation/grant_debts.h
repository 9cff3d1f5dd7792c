#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"

namespace outrider {

/// Knows which senders have had grants and left the queue idle with them, while others waited.
///
/// A sender may waste a quarter of the time, and `forgiven` at once: what it wastes beyond that is
/// its debt, which time pays off. The bursts of a sender in debt take no room, so that nobody waits
/// for them. The caller says what was wasted.
///
/// The table forgets the sender that came in first when it is full. O(1), allocates only at
/// construction. Not thread-safe.
///
/// Source: the virtual scheduling algorithm of ITU-T I.371, annex A, for time instead of cells.
class GrantDebts {
 public:
  static constexpr int kShare = 4;  ///< a sender may waste one part in so many

  /// @param senders  that are known at a time, > 0
  GrantDebts(std::uint32_t senders, Duration forgiven)
      : forgiven_(forgiven), paid_off_at_(senders), order_(senders) {}

  /// The sender has wasted that time before `now`. @param wasted >= 0
  void charge(const FlowKey& sender, Duration wasted, Time now) noexcept {
    if (Time* known = paid_off_at_.find(sender); known != nullptr) {
      *known = std::max(*known, now) + kShare * wasted;
      return;
    }
    if (paid_off_at_.full()) paid_off_at_.erase(order_[next_]);
    paid_off_at_.insert(sender, now + kShare * wasted);
    order_[next_] = sender;
    next_ = (next_ + 1) % order_.size();
  }
  [[nodiscard]] bool in_debt(const FlowKey& sender, Time now) const noexcept {
    const Time* known = paid_off_at_.find(sender);
    return known != nullptr && *known - now > kShare * forgiven_;
  }

 private:
  Duration forgiven_;
  FlowTable<Time> paid_off_at_;  ///< sender -> when it has wasted no more than its share
  std::vector<FlowKey> order_;   ///< ring of senders, in the order in which they came in
  std::size_t next_ = 0;
};

}  // namespace outrider
