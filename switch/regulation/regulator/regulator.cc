#include "switch/regulation/regulator/regulator.h"

#include <algorithm>
#include <cassert>

#include "common/core/sequence.h"
#include "switch/regulation/regulator/burst_reach.h"

namespace outrider {
namespace {

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

/// Returns when the entry of a START begins.
Time begin_of(const StartSignal& start, const std::optional<Duration>& lead, Time now) {
  if (!lead || !start.due) return now;
  return std::max(now, *start.due - *lead);
}

}  // namespace

Regulator::Regulator(const RegulationPolicy& policy, std::size_t stretches)
    : entries_(policy, stretches), lead_(lead_of(policy)), seen_(policy.max_entries) {
  if (policy.predict.from == PredictFrom::kOff) return;
  assert(lead_);
  predictions_.emplace(policy.predict);
  predicts_ = true;
}

void Regulator::set_lead(Duration lead) noexcept {
  assert(measures_lead(entries_.policy()) && lead >= Duration::zero());
  lead_ = lead;
  if (!predictions_) return;
  predictions_->change_lead(lead);
  next_event_ = std::min(next_event_, predictions_->next());
}

ArmVerdict Regulator::on_start(const StartSignal& start, Time now) noexcept {
  assert(start.threshold_packets > 0 && start.bytes.value_or(1) > 0);
  if (now >= next_event_) advance(now);
  const std::uint16_t signer = signer_of(start, entries_.policy());
  std::uint32_t live = entries_.find(start.flow, now);
  if (live != kNone && !holds_up(entries_[live].signer, signer)) {
    end(live, EntryEnd::kReplaced, now);
    live = kNone;
  }
  bool stale = false, copy = false;
  if (live != kNone) {
    const RegulatorEntry& e = entries_[live];
    const std::int32_t ahead = sequence_distance(start.sequence, e.announced_sequence);
    stale = !holds_up(signer, e.signer) || ahead < 0;
    copy = ahead == 0;
  } else if (const Seen* last = seen_.find(start.flow);
             last != nullptr && holds_up(last->signer, signer)) {
    const std::int32_t ahead = sequence_distance(start.sequence, last->announced_sequence);
    stale = ahead < 0 && now - last->at < kStaleFor;
    copy = ahead == 0;
  }
  if (stale) {
    ++entries_.counters().starts_stale;
    return ArmVerdict::kStale;
  }
  if (copy) return hear_copy(live, start, now);
  if (predictions_) {
    if (predictions_->on_start(start, *lead_, entries_, now)) refresh(now);
    next_event_ = std::min(next_event_, predictions_->next());
  }
  if (const std::uint32_t older = entries_.find(start.flow, now); older != kNone)
    end(older, EntryEnd::kReplaced, now);
  const Time begin_at = begin_of(start, lead_, now);
  const ArmVerdict verdict =
      entries_.arm({.flow = start.flow,
                    .announced_sequence = start.sequence,
                    .threshold_packets = threshold_of(start, entries_.policy()),
                    .signer = signer,
                    .bytes = start.bytes,
                    .begin_at = begin_at,
                    .silent_since = begin_at},
                   now);
  if (verdict != ArmVerdict::kArmed) return verdict;
  ++entries_.counters().starts_armed;
  refresh(now);
  return ArmVerdict::kArmed;
}

/// Merges a START into the live entry of the same burst. @param live  its slot; kNone: its own
/// burst has overtaken it
ArmVerdict Regulator::hear_copy(std::uint32_t live, const StartSignal& start, Time now) noexcept {
  if (live == kNone || !entries_.tighten(live, threshold_of(start, entries_.policy()), start.bytes,
                                         begin_of(start, lead_, now))) {
    ++entries_.counters().starts_repeated;
    return ArmVerdict::kRepeated;
  }
  ++entries_.counters().starts_tightened;
  refresh(now);
  return ArmVerdict::kTightened;
}

void Regulator::on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                           bool fin, Time now, bool accepted) noexcept {
  if (now >= next_event_) advance(now);
  if (predicts_) learn(flow, payload_bytes, accepted, now);
  if (entries_.table().size() == 0) return;
  const std::uint32_t slot = entries_.find(flow, now);
  if (slot == kNone) return;
  RegulatorEntry& entry = entries_[slot];
  const bool first = entry.reached == 0;
  entry.reached = reached_after(entry.announced_sequence, entry.reached, sequence + payload_bytes);
  if (entry.reached == 0) return;  // earlier data, retransmitted
  if (first) seen_.put(flow, {entry.announced_sequence, entry.signer, now});
  const Recovery recovery = entries_.policy().recovery;
  if (recovery == Recovery::kArrival) return end(slot, EntryEnd::kArrival, now);
  const bool complete = entry.bytes && entry.reached >= *entry.bytes;
  if (recovery == Recovery::kBurstEnd && (fin || complete))
    return end(slot, EntryEnd::kBurstEnd, now);
  entries_.note_payload(slot, first, now);
  if (first) next_event_ = std::min(next_event_, entries_.times().next());
}

/// @pre predictions are on
void Regulator::learn(const FlowKey& flow, std::uint32_t payload_bytes, bool accepted,
                      Time now) noexcept {
  if (!accepted) return predictions_->on_unbelieved_payload();
  if (predictions_->on_payload(flow, payload_bytes, *lead_, entries_, now)) return refresh(now);
  next_event_ = std::min({next_event_, predictions_->next(), entries_.times().next()});
}

Regulator::Standing Regulator::standing_of(const FlowKey& flow, std::uint32_t sequence,
                                           Time now) noexcept {
  if (now >= next_event_) advance(now);
  if (live_entries() == 0 || !entries_.table().may_have(flow)) return Standing::kNone;
  const std::uint32_t slot = entries_.find(flow, now);
  if (slot == kNone) return Standing::kNone;
  const RegulatorEntry& entry = entries_[slot];
  if (!entry.begun) return Standing::kAnnounced;
  // What is behind the begin of a burst that is longer than half the circle may be ahead of it.
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 31;
  const bool of_burst =
      entry.reached >= kHalf || sequence_distance(sequence, entry.announced_sequence) >= 0;
  return of_burst ? Standing::kOfBurst : Standing::kAnnounced;
}

void Regulator::advance(Time now, std::uint32_t most) noexcept {
  const std::uint32_t left = entries_.advance(now, most);
  if (predictions_ && !entries_.times().due(now) && now >= predictions_->next())
    predictions_->arm(entries_, *lead_, now, left);
  refresh(now);
  if (now >= next_event_) stopped_at_ = now;
}

void Regulator::refresh(Time now) noexcept {
  next_event_ = entries_.times().next();
  if (predictions_) next_event_ = std::min(next_event_, predictions_->next());
  effective_ = entries_.threshold(now);
}

void Regulator::end(std::uint32_t slot, EntryEnd why, Time now) noexcept {
  entries_.remove(slot, why, now);
  refresh(now);
}

void Regulator::change_policy(const RegulationPolicy& policy, Time now) noexcept {
  advance(now, kAllEvents);
  if (!measures_lead(policy) || !lead_) lead_ = lead_of(policy);
  entries_.change_policy(policy, now);
  refresh(now);
}

void Regulator::withdraw_all(Time now) noexcept {
  advance(now, kAllEvents);
  entries_.remove_all(EntryEnd::kWithdrawn, now);
  refresh(now);
}

std::optional<std::uint16_t> Regulator::threshold_at(Time now) const {
  if (now < next_event_ || now == stopped_at_) return effective_;
  Regulator later = *this;
  later.advance(now, kAllEvents);
  return later.effective_;
}

namespace {

/// Returns until when entries know whether they were in force.
Time known_until(const RegulatorEntries& entries, Time now) {
  return std::min(now, entries.times().next());
}

}  // namespace

Duration Regulator::regulated(Time now) const {
  const auto until = [now](const RegulatorEntries& entries) {
    return entries.regulated().until(known_until(entries, now));
  };
  if (now < next_event_ || now == stopped_at_) return until(entries_);
  Regulator later = *this;
  later.advance(now, kAllEvents);
  return until(later.entries_);
}

std::vector<TimeSpan> Regulator::stretches(Time now) const {
  const auto until = [now](const RegulatorEntries& entries) {
    return entries.regulated().stretches(known_until(entries, now));
  };
  if (now < next_event_ || now == stopped_at_) return until(entries_);
  Regulator later = *this;
  later.advance(now, kAllEvents);
  return until(later.entries_);
}

std::size_t Regulator::bytes_per_entry() noexcept {
  return sizeof(RegulatorEntry) + FlowMemory<Seen>::bytes_per_flow() +
         EntryTimes::bytes_per_slot() + SlotLinks::bytes_per_slot() + JobWishes::bytes_per_entry() +
         RegulationBudget::bytes_per_entry() + EntrySlots::bytes_per_entry();
}

}  // namespace outrider
