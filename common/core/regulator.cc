#include "common/core/regulator.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "common/core/sequence.h"

namespace outrider {

Regulator::Regulator(const RegulationPolicy& policy)
    : policy_(policy),
      live_index_(policy.max_entries),
      seen_(policy.max_entries),
      seen_order_(policy.max_entries),
      budget_(policy.budget_share, policy.budget_window, policy.max_entries) {
  live_.reserve(policy.max_entries);
}

std::uint16_t Regulator::lowest(const std::vector<Entry>& live) noexcept {
  std::uint16_t low = std::numeric_limits<std::uint16_t>::max();
  for (const auto& e : live) low = std::min(low, e.threshold_packets);
  return low;
}

Regulator::Entry* Regulator::find_live(const FlowKey& flow) noexcept {
  const std::uint32_t* index = live_index_.find(flow);
  return index == nullptr ? nullptr : &live_[*index];
}

ArmVerdict Regulator::on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                               std::uint16_t threshold_packets, Time now) noexcept {
  assert(threshold_packets > 0);
  if (now >= next_end_) end_due(now);
  if (const Entry* live = find_live(flow)) {
    if (live->announced_sequence == announced_sequence) {
      ++counters_.repeated;
      return ArmVerdict::kRepeated;
    }
    end(static_cast<std::size_t>(live - live_.data()), End::kReplaced, now);
  } else if (const auto* seen = seen_.find(flow); seen != nullptr && *seen == announced_sequence) {
    ++counters_.repeated;  // a copy that was overtaken by its own burst
    return ArmVerdict::kRepeated;
  }
  if (live_.size() == policy_.max_entries) {
    ++counters_.refused_table;
    return ArmVerdict::kRefusedTable;
  }
  const Time budget_ends_at = budget_.acquire(flow, now);
  if (budget_ends_at <= now) {
    ++counters_.refused_budget;
    return ArmVerdict::kRefusedBudget;
  }
  if (live_.empty()) regulated_since_ = now;
  live_index_.insert(flow, static_cast<std::uint32_t>(live_.size()));
  live_.push_back(
      {flow, announced_sequence, threshold_packets, State::kArmed, now, now, budget_ends_at});
  ++counters_.armed;
  refresh();
  return ArmVerdict::kArmed;
}

void Regulator::on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                           bool fin, Time now) noexcept {
  if (now >= next_end_) end_due(now);
  if (live_.empty()) return;
  Entry* entry = find_live(flow);
  if (entry == nullptr) return;
  const bool announced = sequence_distance(sequence + payload_bytes, entry->announced_sequence) > 0;
  if (!announced && entry->state == State::kArmed) return;  // earlier data, sent again
  const auto index = static_cast<std::size_t>(entry - live_.data());
  if (policy_.recovery == Recovery::kArrival) {
    remember(flow, entry->announced_sequence);
    end(index, End::kArrival, now);
    return;
  }
  if (entry->state == State::kArmed) remember(flow, entry->announced_sequence);
  entry->state = State::kInBurst;
  entry->active_at = now;
  next_end_ = std::min(next_end_, due_end(*entry).at);  // idle_end may come before expiry did
  if (fin && policy_.recovery == Recovery::kBurstEnd) end(index, End::kBurstEnd, now);
}

Regulator::DueEnd Regulator::due_end(const Entry& e) const noexcept {
  DueEnd due{e.active_at + policy_.expiry, End::kExpiry};
  const auto earlier = [&due](Time at, End why) {
    if (at < due.at) due = {at, why};
  };
  if (policy_.recovery == Recovery::kTimer) earlier(e.armed_at + policy_.hold, End::kTimer);
  if (policy_.recovery == Recovery::kBurstEnd && e.state == State::kInBurst)
    earlier(e.active_at + policy_.idle_end, End::kBurstEnd);
  earlier(e.budget_ends_at, End::kBudget);
  return due;
}

void Regulator::end_due(Time now) noexcept {
  for (std::size_t i = live_.size(); i-- > 0;) {
    const DueEnd due = due_end(live_[i]);
    if (due.at <= now) remove(i, due.why, due.at);
  }
  refresh();
}

void Regulator::end(std::size_t live_index, End why, Time at) noexcept {
  remove(live_index, why, at);
  refresh();
}

void Regulator::remove(std::size_t live_index, End why, Time at) noexcept {
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
  }
  budget_.release(live_[live_index].flow, at);
  live_index_.erase(live_[live_index].flow);
  if (live_index + 1 != live_.size()) {
    live_[live_index] = live_.back();
    *live_index_.find(live_[live_index].flow) = static_cast<std::uint32_t>(live_index);
  }
  live_.pop_back();
  last_end_ = std::max(last_end_, at);
  if (live_.empty()) regulated_ += std::max(last_end_, regulated_since_) - regulated_since_;
}

void Regulator::remember(const FlowKey& flow, std::uint32_t announced_sequence) noexcept {
  if (auto* seen = seen_.find(flow)) {
    *seen = announced_sequence;
    return;
  }
  if (seen_.size() == seen_.max_entries()) seen_.erase(seen_order_[seen_next_]);
  seen_.insert(flow, announced_sequence);
  seen_order_[seen_next_] = flow;
  seen_next_ = (seen_next_ + 1) % seen_order_.size();
}

void Regulator::refresh() noexcept {
  effective_ = lowest(live_);
  next_end_ = kNever;
  for (const auto& e : live_) next_end_ = std::min(next_end_, due_end(e).at);
}

Duration Regulator::regulated(Time now) const noexcept {
  if (live_.empty()) return regulated_;
  Time last_end{};
  for (const auto& e : live_) last_end = std::max(last_end, due_end(e).at);
  return regulated_ + (std::min(last_end, now) - regulated_since_);
}

std::size_t Regulator::bytes_per_entry() noexcept {
  return sizeof(Entry) + sizeof(FlowKey) + 2 * 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t)) +
         RegulationBudget::bytes_per_job();
}

}  // namespace outrider
