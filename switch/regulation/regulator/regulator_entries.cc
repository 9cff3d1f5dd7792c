#include "switch/regulation/regulator/regulator_entries.h"

#include <algorithm>
#include <cassert>

namespace outrider {
namespace {

RegulationBudget::Shares shares_of(const RegulationPolicy& p) {
  return {.job = p.budget_share,
          .sender = sender_share_of(p),
          .queue = queue_share_of(p),
          .signers = p.signers};
}

}  // namespace

RegulatorEntries::RegulatorEntries(const RegulationPolicy& policy, std::size_t stretches)
    : untold_(policy.max_entries),
      table_(policy.max_entries, max_entries_per_sender_of(policy)),
      policy_(policy),
      slots_(policy.max_entries),
      times_(policy.max_entries),
      budget_(shares_of(policy), policy.budget_window, policy.max_entries + 1),
      wishes_(policy.composition, policy.max_entries),
      time_(stretches) {
  table_.change(policy.signers);
}

/// Returns the slot, or kNone if its entry's end is due: then the entry ends.
std::uint32_t RegulatorEntries::find_lasting(std::uint32_t slot, Time now) noexcept {
  const Entry::Due due = slots_[slot].due_end(policy_);
  if (due.at > now) return slot;
  remove(slot, due.why, due.at);
  return kNone;
}

/// Makes sure that there is room for an entry. @return kArmed, or why there is none
ArmVerdict RegulatorEntries::make_room(const Entry& e, Time now) noexcept {
  const auto [room, victim] = table_.room_for(e.flow, e.signer);
  switch (room) {
    case EntrySlots::Room::kFree:
      break;
    case EntrySlots::Room::kEvict:
      assert(!slots_[victim].begun);
      remove(victim, EntryEnd::kEvicted, now);
      break;
    case EntrySlots::Room::kRefusedSender:
      ++counters_.starts_refused_sender;
      return ArmVerdict::kRefusedSender;
    case EntrySlots::Room::kRefusedTable:
      ++counters_.starts_refused_table;
      return ArmVerdict::kRefusedTable;
  }
  return ArmVerdict::kArmed;
}

ArmVerdict RegulatorEntries::arm(const Entry& e, Time now) noexcept {
  assert(!e.begun && e.begin_at >= now);
  // The budget is asked in order of time, so the begins that are due come before this one.
  const bool at_once = e.begin_at == now && !times_.due(now);
  const Time budget_ends_at = at_once ? budget_.acquire(e.flow, now, e.signer) : kNever;
  if (budget_ends_at <= now) {
    ++counters_.starts_refused_budget;
    return ArmVerdict::kRefusedBudget;
  }
  if (const auto room = make_room(e, now); room != ArmVerdict::kArmed) {
    if (at_once) budget_.release(e.flow, now, e.signer);
    return room;
  }
  const std::uint32_t slot = table_.add(e.flow, e.signer);
  slots_[slot] = e;
  times_.add(slot, e.next_event(policy_));
  if (at_once) begin(slot, now, budget_ends_at);
  return ArmVerdict::kArmed;
}

void RegulatorEntries::begin(std::uint32_t slot, Time at, Time budget_ends_at) noexcept {
  Entry& e = slots_[slot];
  assert(!e.begun && e.begin_at <= at);
  e.begun = true;
  e.budget_ends_at = budget_ends_at;
  table_.begin(slot);
  untold_.add(slot);
  time_.begin(at);
  weigh(slot);
  times_.begin(slot, e.next_event(policy_));
}

/// Lets an entry that has begun take part in the composition.
void RegulatorEntries::weigh(std::uint32_t slot) noexcept {
  const Entry& e = slots_[slot];
  assert(e.begun);
  std::optional<std::uint64_t> bytes = e.bytes;
  if (bytes && policy_.max_burst_bytes) bytes = std::min(*bytes, *policy_.max_burst_bytes);
  wishes_.add(slot, RegulationBudget::job_of(e.flow), e.threshold_packets, bytes);
}

bool RegulatorEntries::tighten(std::uint32_t slot, std::uint16_t threshold_packets,
                               const std::optional<std::uint64_t>& bytes, Time begin_at) noexcept {
  Entry& e = slots_[slot];
  bool tighter = false;
  if (threshold_packets < e.threshold_packets) {
    e.threshold_packets = threshold_packets;
    tighter = true;
  }
  if (e.bytes && bytes && *bytes > *e.bytes) {
    e.bytes = bytes;
    tighter = true;
  }
  if (!e.begun && begin_at < e.begin_at) {
    e.begin_at = e.silent_since = begin_at;
    tighter = true;
  }
  if (!tighter) return false;
  if (e.begun) {
    wishes_.remove(slot);
    weigh(slot);
  }
  times_.change(slot, e.next_event(policy_));
  return true;
}

/// Payload puts the end off. The entry is put in order when the old instant comes, because moving
/// it for each packet would cost more. The first payload may bring the end nearer, as idle_end may
/// be before the old expiry.
void RegulatorEntries::note_payload(std::uint32_t slot, bool first, Time now) noexcept {
  Entry& e = slots_[slot];
  e.active_at = now;
  if (!first) return;
  const Event next = e.next_event(policy_);
  if (next < times_.recorded(slot)) times_.change(slot, next);
}

void RegulatorEntries::remove(std::uint32_t slot, EntryEnd why, Time at) noexcept {
  ++counter_of(counters_, why);
  const Entry& gone = slots_[slot];
  if (gone.begun) {
    if (untold_.contains(slot)) untold_.remove(slot);
    budget_.release(gone.flow, at, gone.signer);
    time_.end(at);
    wishes_.remove(slot);
  }
  times_.remove(slot);
  table_.remove(slot);
}

std::uint32_t RegulatorEntries::advance(Time now, std::uint32_t most) noexcept {
  for (; most > 0 && times_.due(now); --most) {
    const std::uint32_t slot = times_.first();
    process(slot);
    times_.leave_out(slot, now);
  }
  return most;
}

/// Processes the next event of an entry. @pre its recorded instant is due
void RegulatorEntries::process(std::uint32_t slot) noexcept {
  ++events_processed_;
  Entry& e = slots_[slot];
  const Event next = e.next_event(policy_);
  assert(next >= times_.recorded(slot));
  if (next > times_.recorded(slot)) return times_.change(slot, next);  // payload has put it off
  if (!next.begins) return remove(slot, e.due_end(policy_).why, next.at);
  const Time budget_ends_at = budget_.acquire(e.flow, next.at, e.signer);
  if (budget_ends_at > next.at) begin(slot, next.at, budget_ends_at);
  else remove(slot, EntryEnd::kBudget, next.at);
}

/// While some are behind it is that of a single entry.
std::optional<std::uint16_t> RegulatorEntries::threshold(Time now) noexcept {
  assert(wishes_.empty() == (time_.entries() == 0));
  if (wishes_.empty()) return std::nullopt;
  if (!times_.due(now)) return wishes_.composed();
  const std::uint32_t last = times_.last(
      kMostEvents, now, [this](std::uint32_t slot) { return slots_[slot].due_end(policy_).at; });
  if (last == EntryTimes::kNone) return std::nullopt;
  return slots_[last].threshold_packets;
}

void RegulatorEntries::change_policy(const RegulationPolicy& policy, Time now) noexcept {
  assert(policy.max_entries == policy_.max_entries && policy.composition == policy_.composition);
  assert(!times_.due(now));
  policy_ = policy;
  budget_.change(shares_of(policy), policy.budget_window);
  table_.change(policy.signers);
  for (std::uint32_t slot = 0; slot < policy.max_entries; ++slot) {
    if (!times_.has(slot)) continue;
    if (const Entry::Due due = slots_[slot].due_end(policy_); due.at <= now) {
      remove(slot, due.why, now);
      continue;
    }
    times_.change(slot, slots_[slot].next_event(policy_));
    if (!slots_[slot].begun) continue;
    wishes_.remove(slot);
    weigh(slot);
  }
}

void RegulatorEntries::remove_all(EntryEnd why, Time now) noexcept {
  for (std::uint32_t slot = 0; slot < policy_.max_entries; ++slot)
    if (times_.has(slot)) remove(slot, why, now);
}

}  // namespace outrider
