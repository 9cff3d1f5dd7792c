#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/flow_table.h"
#include "common/dpdk/packet/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/report/steer_counters.h"

namespace outrider::sw {

/// Decides which packets of announced flows go to another queue of their port, without
/// reordering a flow. The regulator says which bursts are announced, and for how long; this class
/// says when their flow may change its queue.
///
/// * To the target: once no packet of the flow waits in its own queue. Of the packets that came
///   before the flow was followed nobody knows, so all that wait in the queue at the START count.
/// * Back: once no packet of the flow waits in the target. Until then its packets go on to the
///   target, but no more of them than waited there with the last packet of the burst: a flow that
///   always has one waiting would otherwise keep the target for ever. Beyond that number the flow
///   may be reordered. It takes an entry that ended early, by expiry or budget.
///
/// Packets are identified by their number in their queue. A packet that the queue refuses leaves
/// its number to the next one, so the flow only stays where it is for longer.
///
/// The table holds twice as many flows as the regulator has entries. A START that finds it full
/// evicts a flow that is neither announced nor waits in the target; it looks at
/// kLookedAt flows. O(1) for each packet and START; nothing allocates after construction. Not
/// thread-safe: the lcore of the egress port owns it.
class FlowSteering {
 public:
  using Queue = EgressQueue<Packet*>;
  static constexpr std::uint32_t kLookedAt = 8;

  explicit FlowSteering(std::uint32_t max_entries)
      : flows_(2 * max_entries), slots_(flows_.max_entries()) {}

  /// Follows the flow of a START that was armed.
  /// @param is_live  is_live(flow) -> whether the regulator has an entry of that flow
  template <class IsLive>
  void follow(const FlowKey& flow, const Queue& own, const Queue& target,
              IsLive&& is_live) noexcept {
    if (flows_.find(flow) != nullptr) {
      ++counters_.followed;
      return;
    }
    const std::uint32_t slot = used_ < slots_.size() ? used_++ : slot_of_idle(target, is_live);
    if (slot == kNone) {
      ++counters_.no_room;
      return;
    }
    ++counters_.followed;
    slots_[slot] = flow;
    assert(flows_.size() + 1 == used_);
    flows_.insert(flow, {.last_own = own.next_number() - 1});
  }

  /// Decides on a packet. The caller then offers it to the queue named, and to no other.
  /// @param of_burst  whether it belongs to an announced burst whose entry is live
  /// @return whether it goes to the target
  [[nodiscard]] bool moves(const FlowKey& flow, bool of_burst, const Queue& own,
                           const Queue& target) noexcept;

  [[nodiscard]] const SteerCounters& counters() const noexcept { return counters_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  struct Flow {
    std::uint32_t last_own = 0;     ///< number in its own queue of the last packet that may be its
    std::uint32_t last_target = 0;  ///< the same in the target. @pre in_target
    std::uint32_t left_after_end = 0;
    bool in_target = false;  ///< its last packet went there
  };

  [[nodiscard]] static bool waits_in_target(const Flow& flow, const Queue& target) noexcept {
    return flow.in_target && target.waits_up_to(flow.last_target);
  }

  template <class IsLive>
  std::uint32_t slot_of_idle(const Queue& target, IsLive&& is_live) noexcept {
    for (std::uint32_t i = 0; i < kLookedAt; ++i) {
      const std::uint32_t slot = hand_;
      hand_ = hand_ + 1 == slots_.size() ? 0 : hand_ + 1;
      if (waits_in_target(*flows_.find(slots_[slot]), target) || is_live(slots_[slot])) continue;
      flows_.erase(slots_[slot]);
      return slot;
    }
    return kNone;
  }

  FlowTable<Flow> flows_;
  std::vector<FlowKey> slots_;  ///< the flows of flows_, in the first used_
  std::uint32_t used_ = 0;
  std::uint32_t hand_ = 0;  ///< slot that is looked at next
  SteerCounters counters_{};
};

}  // namespace outrider::sw
