#include "common/regulation/regulator.h"

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
  return {.job = p.budget_share, .sender = sender_share_of(p), .queue = queue_share_of(p)};
}

/// Returns the threshold that a START gets.
std::uint16_t threshold_of(const StartSignal& start, const RegulationPolicy& p) {
  return std::min(start.threshold_packets, p.max_threshold_packets.value_or(65535));
}

}  // namespace

Regulator::Regulator(const RegulationPolicy& policy)
    : policy_(policy),
      live_index_(policy.max_entries),
      seen_(policy.max_entries),
      seen_order_(policy.max_entries),
      shares_(policy.max_entries, max_entries_per_sender_of(policy)),
      budget_(shares_of(policy), policy.budget_window, policy.max_entries + 1) {
  live_.reserve(policy.max_entries);
  if (policy.composition != Composition::kMin) wishes_.emplace(policy.max_entries);
  if (policy.predict.from == PredictFrom::kOff) return;
  assert(policy.lead);
  predictor_.emplace(params_of(policy.predict));
  predicts_ = true;
}

Regulator::Entry* Regulator::find_live(const FlowKey& flow) noexcept {
  const std::uint32_t* index = live_index_.find(flow);
  return index == nullptr ? nullptr : &live_[*index];
}

bool Regulator::is_stale(const StartSignal& start, Time now) const noexcept {
  if (const auto* index = live_index_.find(start.flow))
    return sequence_distance(start.sequence, live_[*index].announced_sequence) < 0;
  const Seen* seen = seen_.find(start.flow);
  return seen != nullptr && now - seen->at < kStaleFor &&
         sequence_distance(start.sequence, seen->announced_sequence) < 0;
}

/// Returns whether it is a copy that was overtaken by its own burst.
bool Regulator::is_seen(const StartSignal& start) const noexcept {
  const Seen* seen = seen_.find(start.flow);
  return seen != nullptr && seen->announced_sequence == start.sequence;
}

/// Merges a START into the live entry of the same burst.
ArmVerdict Regulator::hear_copy(Entry& e, const StartSignal& start, Time now) noexcept {
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
  next_event_ = now;
  advance(now);
  return ArmVerdict::kTightened;
}

/// Makes sure that there is room for an entry of the flow. @return kArmed, or why there is none
ArmVerdict Regulator::make_room(const FlowKey& flow, Time now) noexcept {
  const FlowKey sender = RegulationBudget::sender_of(flow);
  if (!shares_.may_add(sender)) {
    ++counters_.starts_refused_sender;
    return ArmVerdict::kRefusedSender;
  }
  if (live_.size() < policy_.max_entries) return ArmVerdict::kArmed;
  const auto victim = shares_.victim_for(sender);
  if (!victim) {
    ++counters_.starts_refused_table;
    return ArmVerdict::kRefusedTable;
  }
  remove(*live_index_.find(*victim), End::kEvicted, now);
  return ArmVerdict::kArmed;
}

Time Regulator::begin_of(const StartSignal& start, Time now) const noexcept {
  if (!policy_.lead || !start.due) return now;
  return std::max(now, *start.due - *policy_.lead);
}

ArmVerdict Regulator::on_start(const StartSignal& start, Time now) noexcept {
  assert(start.threshold_packets > 0 && start.bytes.value_or(1) > 0);
  if (now >= next_event_) advance(now);
  if (is_stale(start, now)) {
    ++counters_.starts_stale;
    return ArmVerdict::kStale;
  }
  if (Entry* live = find_live(start.flow);
      live != nullptr && live->announced_sequence == start.sequence)
    return hear_copy(*live, start, now);
  if (find_live(start.flow) == nullptr && is_seen(start)) {
    ++counters_.starts_repeated;
    return ArmVerdict::kRepeated;
  }
  if (predictor_) hear_start(start, now);
  if (const Entry* live = find_live(start.flow))
    end(static_cast<std::size_t>(live - live_.data()), End::kReplaced, now);
  const Time begin_at = begin_of(start, now);
  const bool at_once = begin_at == now;
  const Time budget_ends_at = at_once ? budget_.acquire(start.flow, now) : kNever;
  if (budget_ends_at <= now) {
    ++counters_.starts_refused_budget;
    return ArmVerdict::kRefusedBudget;
  }
  if (const ArmVerdict room = make_room(start.flow, now); room != ArmVerdict::kArmed) {
    if (at_once) budget_.release(start.flow, now);
    return room;
  }
  live_index_.insert(start.flow, static_cast<std::uint32_t>(live_.size()));
  live_.push_back({.flow = start.flow,
                   .announced_sequence = start.sequence,
                   .place = shares_.add(RegulationBudget::sender_of(start.flow), start.flow),
                   .threshold_packets = threshold_of(start, policy_),
                   .bytes = start.bytes,
                   .begin_at = begin_at,
                   .silent_since = begin_at});
  if (at_once) begin(live_.back(), now, budget_ends_at);
  ++counters_.starts_armed;
  refresh();
  return ArmVerdict::kArmed;
}

void Regulator::on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                           bool fin, Time now, bool accepted) noexcept {
  if (now >= next_event_) advance(now);
  if (predictor_ && accepted) hear_payload(flow, payload_bytes, now);
  else if (predictor_) predictor_->count_not_accepted();
  if (live_.empty()) return;
  Entry* entry = find_live(flow);
  if (entry == nullptr) return;
  // Counted from the furthest byte so far: a burst may be longer than half the circle.
  const auto furthest = entry->announced_sequence + static_cast<std::uint32_t>(entry->reached);
  const std::int32_t beyond = sequence_distance(sequence + payload_bytes, furthest);
  const bool first = entry->reached == 0;
  if (beyond > 0) entry->reached += static_cast<std::uint32_t>(beyond);
  if (entry->reached == 0) return;  // earlier data, retransmitted
  if (first) remember(flow, entry->announced_sequence, now);
  const auto index = static_cast<std::size_t>(entry - live_.data());
  if (policy_.recovery == Recovery::kArrival) return end(index, End::kArrival, now);
  const bool complete = entry->bytes && entry->reached >= *entry->bytes;
  if (policy_.recovery == Recovery::kBurstEnd && (fin || complete))
    return end(index, End::kBurstEnd, now);
  entry->active_at = now;
  next_event_ = std::min(next_event_, due_end(*entry).at);  // idle_end may be before the old expiry
}

Regulator::DueEnd Regulator::due_end(const Entry& e) const noexcept {
  DueEnd due{std::max(e.active_at, e.silent_since) + policy_.expiry,
             e.predicted && e.reached == 0 ? End::kMissed : End::kExpiry};
  const auto earlier = [&due](Time at, End why) {
    if (at < due.at) due = {at, why};
  };
  if (policy_.recovery == Recovery::kTimer) earlier(e.begin_at + policy_.hold, End::kTimer);
  if (policy_.recovery == Recovery::kBurstEnd && e.reached > 0)
    earlier(e.active_at + policy_.idle_end, End::kBurstEnd);
  if (e.begun) earlier(e.budget_ends_at, End::kBudget);
  return due;
}

Time Regulator::next_event_of(const Entry& e) const noexcept {
  const Time ends_at = due_end(e).at;
  return e.begun ? ends_at : std::min(ends_at, e.begin_at);
}

void Regulator::advance(Time now) noexcept {
  for (;;) {
    Time next_begin = kNever;
    for (const auto& e : live_)
      if (!e.begun) next_begin = std::min(next_begin, e.begin_at);
    // The budget needs the ends up to an instant before the begins at that instant.
    end_due(std::min(now, next_begin));
    if (next_begin > now || next_begin == kNever) break;
    begin_due(next_begin);
  }
  if (now >= predict_at_) arm_predicted(now);
  refresh();
}

void Regulator::begin(Entry& e, Time at, Time budget_ends_at) noexcept {
  e.begun = true;
  shares_.begin(e.place);
  ++untold_;
  e.budget_ends_at = budget_ends_at;
  if (begun_++ == 0) regulated_since_ = at;
}

void Regulator::begin_due(Time at) noexcept {
  for (std::size_t i = live_.size(); i-- > 0;) {
    Entry& e = live_[i];
    if (e.begun || e.begin_at > at) continue;
    const Time budget_ends_at = budget_.acquire(e.flow, at);
    if (budget_ends_at > at) begin(e, at, budget_ends_at);
    else remove(i, End::kBudget, at);
  }
}

void Regulator::end_due(Time now) noexcept {
  for (std::size_t i = live_.size(); i-- > 0;) {
    const DueEnd due = due_end(live_[i]);
    if (due.at <= now) remove(i, due.why, due.at);
  }
}

void Regulator::end(std::size_t live_index, End why, Time at) noexcept {
  remove(live_index, why, at);
  refresh();
}

void Regulator::count(End why) noexcept {
  switch (why) {
    case End::kArrival:
      ++counters_.recovered_arrival;
      break;
    case End::kBurstEnd:
      ++counters_.recovered_burst_end;
      break;
    case End::kTimer:
      ++counters_.recovered_timer;
      break;
    case End::kExpiry:
      ++counters_.expired;
      break;
    case End::kBudget:
      ++counters_.budget_exhausted;
      break;
    case End::kReplaced:
      ++counters_.replaced;
      break;
    case End::kEvicted:
      ++counters_.evicted;
      break;
    case End::kMissed:
      ++counters_.predictions_missed;
      break;
    case End::kWithdrawn:
      ++counters_.withdrawn;
      break;
  }
}

void Regulator::remove(std::size_t live_index, End why, Time at) noexcept {
  count(why);
  const Entry& gone = live_[live_index];
  if (gone.begun) {
    untold_ -= !gone.told;
    budget_.release(gone.flow, at);
    last_end_ = std::max(last_end_, at);
    if (--begun_ == 0) regulated_ += std::max(last_end_, regulated_since_) - regulated_since_;
  }
  shares_.remove(gone.place);
  live_index_.erase(gone.flow);
  if (live_index + 1 != live_.size()) {
    live_[live_index] = live_.back();
    *live_index_.find(live_[live_index].flow) = static_cast<std::uint32_t>(live_index);
  }
  live_.pop_back();
}

void Regulator::change_policy(const RegulationPolicy& policy, Time now) noexcept {
  assert(policy.max_entries == policy_.max_entries && policy.composition == policy_.composition);
  advance(now);
  policy_ = policy;
  budget_.change(shares_of(policy), policy.budget_window);
  for (std::size_t i = live_.size(); i-- > 0;) {
    const DueEnd due = due_end(live_[i]);
    if (due.at <= now) remove(i, due.why, now);
  }
  refresh();
}

void Regulator::withdraw_all(Time now) noexcept {
  advance(now);
  while (!live_.empty()) remove(live_.size() - 1, End::kWithdrawn, now);
  refresh();
}

void Regulator::remember(const FlowKey& flow, std::uint32_t announced_sequence, Time now) noexcept {
  if (auto* seen = seen_.find(flow)) {
    *seen = {announced_sequence, now};
    return;
  }
  if (seen_.size() == seen_.max_entries()) seen_.erase(seen_order_[seen_next_]);
  seen_.insert(flow, {announced_sequence, now});
  seen_order_[seen_next_] = flow;
  seen_next_ = (seen_next_ + 1) % seen_order_.size();
}

void Regulator::tag_live() noexcept {
  live_tags_.fill(live_.size() > kTagged ? ~std::uint64_t{0} : 0);
  if (live_.size() > kTagged) return;
  for (const auto& e : live_) {
    const std::uint64_t tag = tag_of(e.flow);
    live_tags_[tag / 64] |= std::uint64_t{1} << (tag % 64);
  }
}

/// Returns the bytes by which an entry is weighed against those of other jobs.
std::optional<std::uint64_t> Regulator::weight_of(const Entry& e) const noexcept {
  if (!e.bytes || !policy_.max_burst_bytes) return e.bytes;
  return std::min(*e.bytes, *policy_.max_burst_bytes);
}

void Regulator::refresh() noexcept {
  tag_live();
  effective_ = std::numeric_limits<std::uint16_t>::max();
  next_event_ = predict_at_;
  for (const auto& e : live_) {
    if (e.begun) effective_ = std::min(effective_, e.threshold_packets);
    next_event_ = std::min(next_event_, next_event_of(e));
  }
  if (!wishes_ || begun_ == 0) return;
  for (const auto& e : live_)
    if (e.begun) wishes_->add(RegulationBudget::job_of(e.flow), e.threshold_packets, weight_of(e));
  effective_ = wishes_->take(policy_.composition);
}

std::optional<std::uint16_t> Regulator::threshold_at(Time now) const {
  if (now >= next_event_) return Regulator(*this).threshold(now);
  return begun_ == 0 ? std::nullopt : std::optional(effective_);
}

Duration Regulator::regulated(Time now) const {
  if (now >= next_event_) {
    Regulator later = *this;
    later.advance(now);
    return later.regulated(now);
  }
  return begun_ == 0 ? regulated_ : regulated_ + (now - regulated_since_);
}

std::size_t Regulator::bytes_per_entry() noexcept {
  return sizeof(Entry) + sizeof(FlowKey) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t)) +
         2 * (sizeof(FlowKey) + sizeof(Seen) + sizeof(std::uint32_t)) +
         RegulationBudget::bytes_per_entry() + EntryShares::bytes_per_entry();
}

}  // namespace outrider
