#include "switch/regulation/regulator.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "common/core/sequence.h"

namespace outrider {
namespace {

PeriodPredictor::Params params_of(const PredictPolicy& p) {
  return {.idle_gap = p.idle_gap,
          .max_period = p.max_period,
          .tolerance = p.tolerance,
          .missed_limit = p.missed_limit,
          .max_jobs = p.max_jobs};
}

RegulationBudget::Shares shares_of(const RegulationPolicy& p) {
  return {.job = p.budget_share,
          .sender = sender_share_of(p),
          .queue = queue_share_of(p),
          .signers = p.signers};
}

/// Returns the number of the signer that is charged, or 0 if the START's has no share here.
std::uint16_t signer_of(const StartSignal& start, const RegulationPolicy& p) {
  if (start.signer == 0) [[likely]]
    return 0;
  const bool known = start.signer <= kMaxSignerShares;
  return known && p.signers[start.signer - 1].budget_share > 0 ? start.signer : std::uint16_t{0};
}

/// Returns whether a burst that `earlier` announced can hold up a START of `later`. What nobody
/// signed holds up no signer.
bool holds_up(std::uint16_t earlier, std::uint16_t later) { return earlier != 0 || later == 0; }

/// Returns the lead until another one is measured.
std::optional<Duration> lead_of(const RegulationPolicy& p) {
  if (!p.lead) return std::nullopt;
  return p.lead->value.value_or(Duration::zero());
}

/// Returns the threshold that a START gets.
std::uint16_t threshold_of(const StartSignal& start, const RegulationPolicy& p) {
  return std::min(start.threshold_packets, p.max_threshold_packets.value_or(65535));
}

}  // namespace

Regulator::Regulator(const RegulationPolicy& policy)
    : live_index_(policy.max_entries),
      live_tags_(policy.max_entries),
      policy_(policy),
      lead_(lead_of(policy)),
      slots_(policy.max_entries),
      events_(policy.max_entries),
      ends_(policy.max_entries),
      untold_slots_(policy.max_entries),
      seen_(policy.max_entries),
      seen_order_(policy.max_entries),
      shares_(policy.max_entries, max_entries_per_sender_of(policy)),
      budget_(shares_of(policy), policy.budget_window, policy.max_entries + 1),
      wishes_(policy.composition, policy.max_entries) {
  shares_.change(policy.signers);
  if (policy.predict.from == PredictFrom::kOff) return;
  assert(lead_);
  predictor_.emplace(params_of(policy.predict));
  predicts_ = true;
}

/// Returns the slot of the flow's live entry, or kNone. An entry whose end is due may be found
/// while the regulator is behind: it ends out of its turn.
std::uint32_t Regulator::find_live(const FlowKey& flow, Time now) noexcept {
  const std::uint32_t* slot = live_index_.find(flow);
  if (slot == nullptr) return kNone;
  if (now < next_event_ || !behind(now)) [[likely]]
    return *slot;
  const Entry::Due due = slots_[*slot].due_end(policy_);
  if (due.at > now) return *slot;
  remove(*slot, due.why, due.at);
  return kNone;
}

/// @param live slot of the flow's live entry, or kNone
bool Regulator::is_stale(const StartSignal& start, std::uint32_t live, Time now) const noexcept {
  const std::uint16_t signer = signer_of(start, policy_);
  if (live != kNone)
    return !holds_up(signer, slots_[live].signer) ||
           sequence_distance(start.sequence, slots_[live].announced_sequence) < 0;
  const Seen* seen = seen_.find(start.flow);
  return seen != nullptr && now - seen->at < kStaleFor && holds_up(seen->signer, signer) &&
         sequence_distance(start.sequence, seen->announced_sequence) < 0;
}

/// Returns whether it is a copy that was overtaken by its own burst.
bool Regulator::is_seen(const StartSignal& start) const noexcept {
  const Seen* seen = seen_.find(start.flow);
  return seen != nullptr && seen->announced_sequence == start.sequence &&
         holds_up(seen->signer, signer_of(start, policy_));
}

/// Merges a START into the live entry of the same burst.
ArmVerdict Regulator::hear_copy(std::uint32_t slot, const StartSignal& start, Time now) noexcept {
  Entry& e = slots_[slot];
  bool tighter = false;
  if (const auto threshold = threshold_of(start, policy_); threshold < e.threshold_packets) {
    e.threshold_packets = threshold;
    tighter = true;
  }
  if (e.bytes && start.bytes && *start.bytes > *e.bytes) {
    e.bytes = start.bytes;
    tighter = true;
  }
  if (const Time begin_at = begin_of(start, now); !e.begun && begin_at < e.begin_at) {
    e.begin_at = e.silent_since = begin_at;
    tighter = true;
  }
  if (!tighter) {
    ++counters_.starts_repeated;
    return ArmVerdict::kRepeated;
  }
  ++counters_.starts_tightened;
  if (e.begun) {
    wishes_.remove(slot);
    weigh(slot);
  }
  reschedule(slot);
  refresh(now);
  return ArmVerdict::kTightened;
}

/// Makes sure that there is room for an entry of the flow. @return kArmed, or why there is none
ArmVerdict Regulator::make_room(const FlowKey& flow, std::uint16_t signer, Time now) noexcept {
  const FlowKey sender = RegulationBudget::sender_of(flow);
  if (!shares_.may_add(sender, signer)) {
    ++counters_.starts_refused_sender;
    return ArmVerdict::kRefusedSender;
  }
  if (shares_.has_place(signer)) return ArmVerdict::kArmed;
  const auto victim = shares_.victim_for(sender, signer);
  if (!victim) {
    ++counters_.starts_refused_table;
    return ArmVerdict::kRefusedTable;
  }
  remove(*live_index_.find(*victim), EntryEnd::kEvicted, now);
  return ArmVerdict::kArmed;
}

Time Regulator::begin_of(const StartSignal& start, Time now) const noexcept {
  if (!lead_ || !start.due) return now;
  return std::max(now, *start.due - *lead_);
}

void Regulator::set_lead(Duration lead) noexcept {
  assert(measures_lead(policy_) && lead >= Duration::zero());
  lead_ = lead;
  if (!predictor_) return;
  predict_at_ = predictor_->next_take(lead);
  next_event_ = std::min(next_event_, predict_at_);
}

ArmVerdict Regulator::on_start(const StartSignal& start, Time now) noexcept {
  assert(start.threshold_packets > 0 && start.bytes.value_or(1) > 0);
  if (now >= next_event_) advance(now);
  const std::uint16_t signer = signer_of(start, policy_);
  std::uint32_t live = find_live(start.flow, now);
  if (live != kNone && !holds_up(slots_[live].signer, signer)) {
    end(live, EntryEnd::kReplaced, now);
    live = kNone;
  }
  if (is_stale(start, live, now)) {
    ++counters_.starts_stale;
    return ArmVerdict::kStale;
  }
  if (live != kNone && slots_[live].announced_sequence == start.sequence)
    return hear_copy(live, start, now);
  if (live == kNone && is_seen(start)) {
    ++counters_.starts_repeated;
    return ArmVerdict::kRepeated;
  }
  if (predictor_) hear_start(start, now);
  if (const std::uint32_t older = find_live(start.flow, now); older != kNone)
    end(older, EntryEnd::kReplaced, now);
  const Time begin_at = begin_of(start, now);
  // The budget is asked in order of time, so the begins that are due come before this one.
  const bool at_once = begin_at == now && !behind(now);
  const Time budget_ends_at = at_once ? budget_.acquire(start.flow, now, signer) : kNever;
  if (budget_ends_at <= now) {
    ++counters_.starts_refused_budget;
    return ArmVerdict::kRefusedBudget;
  }
  if (const auto room = make_room(start.flow, signer, now); room != ArmVerdict::kArmed) {
    if (at_once) budget_.release(start.flow, now, signer);
    return room;
  }
  const std::uint32_t slot = add({.flow = start.flow,
                                  .announced_sequence = start.sequence,
                                  .threshold_packets = threshold_of(start, policy_),
                                  .signer = signer,
                                  .bytes = start.bytes,
                                  .begin_at = begin_at,
                                  .silent_since = begin_at});
  if (at_once) begin(slot, now, budget_ends_at);
  ++counters_.starts_armed;
  refresh(now);
  return ArmVerdict::kArmed;
}

void Regulator::on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                           bool fin, Time now, bool accepted) noexcept {
  if (now >= next_event_) advance(now);
  if (predictor_ && accepted) hear_payload(flow, payload_bytes, now);
  else if (predictor_) predictor_->count_not_accepted();
  if (live_index_.size() == 0) return;
  const std::uint32_t slot = find_live(flow, now);
  if (slot == kNone) return;
  Entry& entry = slots_[slot];
  // Counted from the furthest byte so far: a burst may be longer than half the circle.
  const auto furthest = entry.announced_sequence + static_cast<std::uint32_t>(entry.reached);
  const std::int32_t beyond = sequence_distance(sequence + payload_bytes, furthest);
  const bool first = entry.reached == 0;
  if (beyond > 0) entry.reached += static_cast<std::uint32_t>(beyond);
  if (entry.reached == 0) return;  // earlier data, retransmitted
  if (first) remember(entry, now);
  if (policy_.recovery == Recovery::kArrival) return end(slot, EntryEnd::kArrival, now);
  const bool complete = entry.bytes && entry.reached >= *entry.bytes;
  if (policy_.recovery == Recovery::kBurstEnd && (fin || complete))
    return end(slot, EntryEnd::kBurstEnd, now);
  note_payload(slot, first, now);
}

Regulator::Standing Regulator::standing_of(const FlowKey& flow, std::uint32_t sequence,
                                           Time now) noexcept {
  if (now >= next_event_) advance(now);
  if (live_index_.size() == 0 || !live_tags_.may_have(flow)) return Standing::kNone;
  const std::uint32_t slot = find_live(flow, now);
  if (slot == kNone) return Standing::kNone;
  if (!slots_[slot].begun) return Standing::kAnnounced;
  // What is behind the begin of a burst that is longer than half the circle may be ahead of it.
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;
  const bool of_burst = slots_[slot].reached >= kHalf ||
                        sequence_distance(sequence, slots_[slot].announced_sequence) >= 0;
  return of_burst ? Standing::kOfBurst : Standing::kAnnounced;
}

/// Payload puts the end off. The entry is put in order when the old instant comes, because moving
/// it for each packet would cost more. The first payload may bring the end nearer, as idle_end may
/// be before the old expiry.
void Regulator::note_payload(std::uint32_t slot, bool first, Time now) noexcept {
  Entry& e = slots_[slot];
  e.active_at = now;
  if (!first) return;
  const Event next = e.next_event(policy_);
  if (next >= events_.key_of(slot)) return;
  reschedule(slot);
  next_event_ = std::min(next_event_, next.at);
}

void Regulator::advance(Time now, std::uint32_t most) noexcept {
  for (; most > 0 && behind(now); --most) {
    const std::uint32_t slot = events_.top();
    process(slot);
    // It begins only to end: lasting_threshold() need not look at it.
    if (ends_.contains(slot) && ends_.key_of(slot) <= now) ends_.remove(slot);
  }
  if (!behind(now) && now >= predict_at_) arm_predicted(now, most);
  refresh(now);
  if (now >= next_event_) stopped_at_ = now;
}

/// Processes the next event of an entry. @pre its recorded instant is due
void Regulator::process(std::uint32_t slot) noexcept {
  ++events_processed_;
  Entry& e = slots_[slot];
  const Event next = e.next_event(policy_);
  if (next > events_.key_of(slot)) return reschedule(slot);  // payload has put it off
  if (!next.begins) return remove(slot, e.due_end(policy_).why, next.at);
  const Time budget_ends_at = budget_.acquire(e.flow, next.at, e.signer);
  if (budget_ends_at > next.at) begin(slot, next.at, budget_ends_at);
  else remove(slot, EntryEnd::kBudget, next.at);
}

/// Adds an entry that waits. @pre make_room() was asked. @return its slot
std::uint32_t Regulator::add(const Entry& e) noexcept {
  const std::uint32_t slot = shares_.add(RegulationBudget::sender_of(e.flow), e.flow, e.signer);
  slots_[slot] = e;
  live_index_.insert(e.flow, slot);
  live_tags_.add(e.flow);
  events_.push(slot, e.next_event(policy_));
  return slot;
}

void Regulator::begin(std::uint32_t slot, Time at, Time budget_ends_at) noexcept {
  Entry& e = slots_[slot];
  e.begun = true;
  e.budget_ends_at = budget_ends_at;
  shares_.begin(slot);
  untold_slots_.add(untold_, slot);
  time_.begin(at);
  weigh(slot);
  const Event next = e.next_event(policy_);
  events_.change(slot, next);
  ends_.push(slot, next.at);
}

/// Puts an entry in order by its next event.
void Regulator::reschedule(std::uint32_t slot) noexcept {
  const Event next = slots_[slot].next_event(policy_);
  events_.change(slot, next);
  if (ends_.contains(slot)) ends_.change(slot, next.at);
}

void Regulator::end(std::uint32_t slot, EntryEnd why, Time now) noexcept {
  remove(slot, why, now);
  refresh(now);
}

void Regulator::remove(std::uint32_t slot, EntryEnd why, Time at) noexcept {
  ++counter_of(counters_, why);
  const Entry& gone = slots_[slot];
  if (gone.begun) {
    if (untold_slots_.listed(slot)) untold_slots_.remove(untold_, slot);
    if (ends_.contains(slot)) ends_.remove(slot);
    budget_.release(gone.flow, at, gone.signer);
    time_.end(at);
    wishes_.remove(slot);
  }
  events_.remove(slot);
  live_tags_.remove(gone.flow);
  live_index_.erase(gone.flow);
  shares_.remove(slot);
}

void Regulator::change_policy(const RegulationPolicy& policy, Time now) noexcept {
  assert(policy.max_entries == policy_.max_entries && policy.composition == policy_.composition);
  advance(now, kAllEvents);
  if (!measures_lead(policy) || !lead_) lead_ = lead_of(policy);
  policy_ = policy;
  budget_.change(shares_of(policy), policy.budget_window);
  shares_.change(policy.signers);
  for (std::uint32_t slot = 0; slot < policy.max_entries; ++slot) {
    if (!events_.contains(slot)) continue;
    if (const Entry::Due due = slots_[slot].due_end(policy_); due.at <= now) {
      remove(slot, due.why, now);
      continue;
    }
    reschedule(slot);
    if (!slots_[slot].begun) continue;
    wishes_.remove(slot);
    weigh(slot);
  }
  refresh(now);
}

void Regulator::withdraw_all(Time now) noexcept {
  advance(now, kAllEvents);
  for (std::uint32_t slot = 0; slot < policy_.max_entries; ++slot)
    if (events_.contains(slot)) remove(slot, EntryEnd::kWithdrawn, now);
  refresh(now);
}

void Regulator::remember(const Entry& e, Time now) noexcept {
  const Seen last{e.announced_sequence, e.signer, now};
  if (auto* seen = seen_.find(e.flow)) {
    *seen = last;
    return;
  }
  if (seen_.size() == seen_.max_entries()) seen_.erase(seen_order_[seen_next_]);
  seen_.insert(e.flow, last);
  seen_order_[seen_next_] = e.flow;
  seen_next_ = (seen_next_ + 1) % seen_order_.size();
}

/// Lets an entry that has begun take part in the composition.
void Regulator::weigh(std::uint32_t slot) noexcept {
  const Entry& e = slots_[slot];
  std::optional<std::uint64_t> bytes = e.bytes;
  if (bytes && policy_.max_burst_bytes) bytes = std::min(*bytes, *policy_.max_burst_bytes);
  wishes_.add(slot, RegulationBudget::job_of(e.flow), e.threshold_packets, bytes);
}

/// Returns the threshold of the entry that ends last, if its end is not due by `now`. What is
/// found to be due is not looked at again: it will end when its turn comes.
std::optional<std::uint16_t> Regulator::lasting_threshold(Time now) noexcept {
  for (std::uint32_t left = kMostEvents; !ends_.empty(); --left) {
    const std::uint32_t slot = ends_.top();
    if (slots_[slot].due_end(policy_).at > now) return slots_[slot].threshold_packets;
    if (left == 0) break;
    ends_.remove(slot);
  }
  return std::nullopt;
}

void Regulator::refresh(Time now) noexcept {
  next_event_ = predict_at_;
  if (!events_.empty()) next_event_ = std::min(next_event_, events_.top_key().at);
  if (wishes_.empty()) effective_ = std::nullopt;
  else if (behind(now)) effective_ = lasting_threshold(now);
  else effective_ = wishes_.composed();
}

std::optional<std::uint16_t> Regulator::threshold_at(Time now) const {
  if (now < next_event_ || now == stopped_at_) return effective_;
  Regulator later = *this;
  later.advance(now, kAllEvents);
  return later.effective_;
}

Duration Regulator::regulated(Time now) const {
  if (now >= next_event_ && now != stopped_at_) {
    Regulator later = *this;
    later.advance(now, kAllEvents);
    return later.time_.until(now);
  }
  return time_.until(events_.empty() ? now : std::min(now, events_.top_key().at));
}

std::size_t Regulator::bytes_per_entry() noexcept {
  return sizeof(Entry) + sizeof(FlowKey) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t)) +
         2 * (sizeof(FlowKey) + sizeof(Seen) + sizeof(std::uint32_t)) +
         IndexedHeap<Event>::bytes_per_slot() + IndexedHeap<Time>::bytes_per_slot() +
         SlotLinks::bytes_per_slot() + JobWishes::bytes_per_entry() +
         RegulationBudget::bytes_per_entry() + EntryShares::bytes_per_entry() +
         LiveTags::bytes_per_flow();
}

}  // namespace outrider
