#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/indexed_heap.h"
#include "common/core/recency_list.h"
#include "switch/regulation/policy/grant_policy.h"
#include "switch/regulation/regulator/regulation_budget.h"

namespace outrider {

/// The line of bursts that wait for a grant, in the order of a GrantPolicy. Bursts are the slots of
/// a table. A burst joins when it is announced, waits or does not, and parts when it is over.
///
/// The line ranks groups of bursts. A group is one burst, or all bursts of a job (with
/// GrantParts::kTogether and with GrantOrder::kShare). Within a group the burst that began to wait
/// first is next. Between groups these come first:
///
///  - kShortest: the fewest announced bytes of members; then the earliest START;
///  - kFirst: the earliest START of a member;
///  - kShare: the smallest start tag. A grant moves its group's tag on by the burst's bytes, and a
///    group that begins to wait is no earlier than the group that was granted last. So groups that
///    wait get the same bytes, and none gets credit for the time before.
///
/// Source of kShare: Goyal, Vin and Cheng, Start-time Fair Queueing, SIGCOMM 1996, section 2, with
/// bursts for packets. kShortest with groups orders coflows by their size, as Varys does within one
/// port (Chowdhury et al., SIGCOMM 2014, section 5).
///
/// All operations are O(log slots). Allocates only at construction. Not thread-safe.
class GrantLine {
 public:
  /// @param slots > 0
  GrantLine(GrantOrder order, GrantParts parts, std::uint32_t slots)
      : order_(order),
        by_job_(parts == GrantParts::kTogether || order == GrantOrder::kShare),
        members_(slots),
        groups_(slots),
        index_(slots),
        ranks_(slots),
        waiting_(slots) {
    for (std::uint32_t i = slots; i-- > 0;) free_.push_back(i);
  }

  /// @param number  of the START, which grows from START to START. @pre the slot has not joined
  void join(std::uint32_t slot, const FlowKey& flow, std::uint64_t bytes,
            std::uint64_t number) noexcept {
    assert(!free_.empty());  // each group has a member
    const FlowKey key = by_job_ ? RegulationBudget::job_of(flow) : flow;
    const std::uint32_t* known = index_.find(key);
    const std::uint32_t at = known != nullptr ? *known : free_.back();
    if (known == nullptr) {
      free_.pop_back();
      index_.insert(key, at);
      groups_[at] = {.key = key, .number = number};
    }
    members_[slot] = {at, bytes};
    ++groups_[at].members;
    groups_[at].bytes += bytes;
    rank(at);
  }
  /// @pre it has joined and does not wait
  void part(std::uint32_t slot) noexcept {
    assert(!waits(slot));
    const std::uint32_t at = members_[slot].group;
    Group& group = groups_[at];
    group.bytes -= members_[slot].bytes;
    if (--group.members > 0) return rank(at);
    index_.erase(group.key);
    free_.push_back(at);
  }

  /// @pre it has joined and does not wait
  void wait(std::uint32_t slot) noexcept {
    const std::uint32_t at = members_[slot].group;
    Group& group = groups_[at];
    const bool first = group.waiting.empty();
    if (first && group.tag < virtual_time_) group.tag = virtual_time_;
    waiting_.add(group.waiting, slot);
    if (first) ranks_.push(at, rank_of(group));
  }
  /// The burst does not wait any more. @pre waits(slot)
  void leave(std::uint32_t slot) noexcept {
    const std::uint32_t at = members_[slot].group;
    waiting_.remove(groups_[at].waiting, slot);
    if (groups_[at].waiting.empty()) ranks_.remove(at);
  }
  /// The burst waits no more because it was granted. @pre waits(slot)
  void grant(std::uint32_t slot) noexcept {
    const std::uint32_t at = members_[slot].group;
    assert(order_ != GrantOrder::kShare || groups_[at].tag >= virtual_time_);
    virtual_time_ = groups_[at].tag;
    groups_[at].tag += members_[slot].bytes;
    leave(slot);
    rank(at);
  }

  [[nodiscard]] bool waits(std::uint32_t slot) const noexcept { return waiting_.listed(slot); }
  [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }
  /// Returns the burst that is to be granted next. @pre !empty()
  [[nodiscard]] std::uint32_t next() const noexcept { return groups_[ranks_.top()].waiting.oldest; }

 private:
  struct Member {
    std::uint32_t group = 0;
    std::uint64_t bytes = 0;
  };
  struct Group {
    FlowKey key{};
    std::uint64_t number = 0;  ///< of its first START
    std::uint32_t members = 0;
    std::uint64_t bytes = 0;  ///< of its members
    std::uint64_t tag = 0;    ///< kShare: bytes of virtual time at which its next burst begins
    SlotLinks::List waiting{};
  };
  struct Rank {
    std::uint64_t first = 0;
    std::uint64_t then = 0;
    auto operator<=>(const Rank&) const = default;
  };

  [[nodiscard]] Rank rank_of(const Group& group) const noexcept {
    if (order_ == GrantOrder::kShortest) return {group.bytes, group.number};
    if (order_ == GrantOrder::kShare) return {group.tag, group.number};
    return {group.number, 0};
  }
  void rank(std::uint32_t at) noexcept {
    if (ranks_.contains(at)) ranks_.change(at, rank_of(groups_[at]));
  }

  GrantOrder order_;
  bool by_job_;
  std::vector<Member> members_;  ///< by slot
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;  ///< positions in groups_
  FlowTable<std::uint32_t> index_;   ///< key -> position in groups_
  IndexedHeap<Rank> ranks_;          ///< of groups in which a burst waits
  SlotLinks waiting_;                ///< slots, in a list of each group
  std::uint64_t virtual_time_ = 0;
};

}  // namespace outrider
