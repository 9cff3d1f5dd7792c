#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/recency_list.h"
#include "switch/regulation/policy/signer_share.h"
#include "switch/regulation/regulator/live_tags.h"
#include "switch/regulation/regulator/regulation_budget.h"

namespace outrider {

/// Gives the slots of a bounded table of announcements to flows, one to each, and shares them
/// among the senders. A sender holds at most `max_per_sender` of them. An entry waits until it
/// begins, and regulates nobody until then. When the table is full, a newcomer may take the slot
/// of an entry that waits: the oldest one of the sender with most waiting entries, if those are
/// more than all entries of the newcomer's sender. So somebody who fills the table with bursts that
/// are due late keeps nobody out, and what has begun is never evicted.
///
/// Slots may be set aside for signers. A signer takes no others, and nobody else takes these: to
/// all others the table is full when they hold what is not set aside, and only their entries are
/// evicted. After change() somebody may hold more than is his. He gets no further slot then, and
/// who finds no free slot for that reason may take one of others that waits, or waits for one.
///
/// All operations are O(1). Allocates only at construction. Not thread-safe.
class EntrySlots {
 public:
  static constexpr std::uint32_t kNone = SlotLinks::kNone;  ///< no slot

  /// @param max_entries,max_per_sender > 0
  EntrySlots(std::uint32_t max_entries, std::uint32_t max_per_sender)
      : index_(max_entries),
        tags_(max_entries),
        max_per_sender_(std::min(max_entries, max_per_sender)),
        known_senders_(max_entries),
        slots_(max_entries),
        senders_(max_entries),
        waiting_(max_entries),
        ranked_(max_entries),
        ranks_(max_per_sender_ + 1),
        limit_of_others_(max_entries) {
    assert(max_entries > 0 && max_per_sender > 0);
    for (std::uint32_t i = max_entries; i-- > 0;) {
      free_slots_.push_back(i);
      free_senders_.push_back(i);
    }
  }

  /// Sets slots aside. @pre they add up to less than max_entries
  void change(const SignerShares& signers) noexcept {
    limit_of_others_ = static_cast<std::uint32_t>(slots_.size());
    for (std::size_t i = 0; i < kMaxSignerShares; ++i) {
      signers_[i].limit = signers[i].max_entries;
      limit_of_others_ -= signers[i].max_entries;
    }
  }

  /// Returns the slot of the flow's entry, or kNone.
  [[nodiscard]] std::uint32_t find(const FlowKey& flow) const noexcept {
    const std::uint32_t* slot = index_.find(flow);
    assert(slot == nullptr || may_have(flow));
    return slot == nullptr ? kNone : *slot;
  }
  /// Returns false only if the flow has no entry. Cheaper than find().
  [[nodiscard]] bool may_have(const FlowKey& flow) const noexcept { return tags_.may_have(flow); }
  [[nodiscard]] std::uint32_t size() const noexcept { return index_.size(); }

  enum class Room : std::uint8_t {
    kFree,
    kEvict,          ///< if `victim` is removed before
    kRefusedSender,  ///< its sender holds as many entries as it may
    kRefusedTable,   ///< no slot is free, and none can be made free
  };
  struct RoomFor {
    Room room = Room::kFree;
    std::uint32_t victim = kNone;  ///< @pre kEvict
  };
  /// Returns whether there is room for an entry of the flow.
  /// @param signer  number of the one who holds it instead of the sender; 0: nobody
  [[nodiscard]] RoomFor room_for(const FlowKey& flow, std::uint16_t signer = 0) const noexcept {
    const std::uint32_t held = entries_of(RegulationBudget::sender_of(flow));
    const bool may_hold = signer == 0 ? held < max_per_sender_
                                      : signers_[signer - 1].entries < signers_[signer - 1].limit;
    if (!may_hold) return {Room::kRefusedSender};
    if (has_slot(signer)) return {Room::kFree};
    const bool too_many = of_others_ > limit_of_others_;
    if (signer != 0 ? !too_many || most_waiting_ == 0 : too_many || most_waiting_ <= held)
      return {Room::kRefusedTable};
    return {Room::kEvict, senders_[ranks_[most_waiting_].oldest].waiting.oldest};
  }

  /// Adds an entry that waits. @pre room_for() is kFree, and the flow has no entry
  /// @return its slot, for begin() and remove()
  std::uint32_t add(const FlowKey& flow, std::uint16_t signer = 0) noexcept {
    assert(room_for(flow, signer).room == Room::kFree);
    const std::uint32_t slot = take(free_slots_);
    index_.insert(flow, slot);
    tags_.add(flow);
    if (signer != 0) {
      ++signers_[signer - 1].entries;
      slots_[slot] = {flow, 0, signer};
      return slot;
    }
    ++of_others_;
    const FlowKey sender = RegulationBudget::sender_of(flow);
    const std::uint32_t* known = known_senders_.find(sender);
    const std::uint32_t owner = known != nullptr ? *known : take(free_senders_);
    if (known == nullptr) {
      senders_[owner] = {.key = sender};
      known_senders_.insert(sender, owner);
    }
    slots_[slot] = {flow, owner, 0};
    ++senders_[owner].entries;
    assert(senders_[owner].entries <= max_per_sender_);
    waiting_.add(senders_[owner].waiting, slot);
    rank(owner, 1);
    return slot;
  }

  /// The entry waits no more. @pre it waited
  void begin(std::uint32_t slot) noexcept {
    if (slots_[slot].signer != 0) return;
    const std::uint32_t owner = slots_[slot].owner;
    waiting_.remove(senders_[owner].waiting, slot);
    rank(owner, -1);
  }

  /// @pre the slot has an entry
  void remove(std::uint32_t slot) noexcept {
    assert(find(slots_[slot].flow) == slot);
    tags_.remove(slots_[slot].flow);
    index_.erase(slots_[slot].flow);
    free_slots_.push_back(slot);
    if (const std::uint16_t signer = slots_[slot].signer; signer != 0) {
      --signers_[signer - 1].entries;
      return;
    }
    const std::uint32_t owner = slots_[slot].owner;
    if (waiting_.listed(slot)) begin(slot);
    --of_others_;
    if (--senders_[owner].entries > 0) return;
    known_senders_.erase(senders_[owner].key);
    free_senders_.push_back(owner);
  }

  /// Memory of an entry.
  static std::size_t bytes_per_entry() noexcept {
    return sizeof(Slot) + sizeof(Sender) + 2 * SlotLinks::bytes_per_slot() +
           sizeof(SlotLinks::List) + 2 * sizeof(std::uint32_t) +
           4 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t)) + LiveTags::bytes_per_flow();
  }

 private:
  struct Slot {
    FlowKey flow{};
    std::uint32_t owner = 0;   ///< position in senders_, if there is no signer
    std::uint16_t signer = 0;  ///< number of the signer; 0: none
  };
  struct Signer {
    std::uint32_t entries = 0;
    std::uint32_t limit = 0;
  };
  struct Sender {
    FlowKey key{};
    std::uint32_t entries = 0;
    std::uint32_t waits = 0;    ///< length of `waiting`
    SlotLinks::List waiting{};  ///< of slots
  };

  [[nodiscard]] std::uint32_t entries_of(const FlowKey& sender) const noexcept {
    const std::uint32_t* known = known_senders_.find(sender);
    return known == nullptr ? 0 : senders_[*known].entries;
  }
  /// Returns whether there is a slot for who may hold one more.
  [[nodiscard]] bool has_slot(std::uint16_t signer) const noexcept {
    return !free_slots_.empty() && (signer != 0 || of_others_ < limit_of_others_);
  }
  static std::uint32_t take(std::vector<std::uint32_t>& free) noexcept {
    const std::uint32_t taken = free.back();
    free.pop_back();
    return taken;
  }
  /// Moves a sender to the rank of one more or one less waiting entry.
  void rank(std::uint32_t owner, int more) noexcept {
    Sender& sender = senders_[owner];
    if (sender.waits > 0) ranked_.remove(ranks_[sender.waits], owner);
    sender.waits += static_cast<std::uint32_t>(more);
    if (sender.waits > 0) ranked_.add(ranks_[sender.waits], owner);
    // A sender moves by one rank, so the highest one changes by one at most.
    if (sender.waits > most_waiting_) most_waiting_ = sender.waits;
    else if (most_waiting_ > 0 && ranks_[most_waiting_].empty()) --most_waiting_;
    assert(most_waiting_ == 0 || !ranks_[most_waiting_].empty());
  }

  // Asked for each packet, so they come first.
  FlowTable<std::uint32_t> index_;  ///< flow -> its slot
  LiveTags tags_;                   ///< of the flows of index_
  std::uint32_t max_per_sender_;
  FlowTable<std::uint32_t> known_senders_;  ///< sender -> position in senders_
  std::vector<Slot> slots_;
  std::vector<Sender> senders_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> free_senders_;
  SlotLinks waiting_;                   ///< slots, in a list of each sender
  SlotLinks ranked_;                    ///< senders, in a list of each rank
  std::vector<SlotLinks::List> ranks_;  ///< by the number of waiting entries; 0 is not listed
  std::uint32_t most_waiting_ = 0;
  std::uint32_t of_others_ = 0;                     ///< entries of all but signers
  std::uint32_t limit_of_others_;                   ///< of these
  std::array<Signer, kMaxSignerShares> signers_{};  ///< by their number less one
};

}  // namespace outrider
