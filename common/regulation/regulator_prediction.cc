#include <algorithm>

#include "common/regulation/regulator.h"

namespace outrider {

/// Arms every prediction whose lead has begun, and computes when to look again.
/// @pre entries that are over by `now` have ended
void Regulator::arm_predicted(Time now) noexcept {
  while (const auto prediction = predictor_->take(now, *policy_.lead))
    add_predicted(*prediction, now);
  predict_at_ = predictor_->next_take(*policy_.lead);
}

void Regulator::add_predicted(const PeriodPredictor::Prediction& prediction, Time now) noexcept {
  if (prediction.due + policy_.expiry <= now) return;  // the predicted burst has passed unnoticed
  const FlowKey job = job_at(static_cast<std::uint32_t>(prediction.key));
  if (const Entry* live = find_live(job))
    remove(static_cast<std::size_t>(live - live_.data()), End::kReplaced, now);
  const Time budget_ends_at = budget_.acquire(job, now);
  if (budget_ends_at <= now) {
    ++counters_.starts_refused_budget;
    return;
  }
  if (make_room(job, now) != ArmVerdict::kArmed) return budget_.release(job, now);
  live_index_.insert(job, static_cast<std::uint32_t>(live_.size()));
  live_.push_back({.flow = job,
                   .place = shares_.add(RegulationBudget::sender_of(job), job),
                   .threshold_packets = policy_.predict.threshold_packets,
                   .predicted = true,
                   .expected_bytes = prediction.bytes,
                   .begin_at = now,
                   .silent_since = prediction.due});
  begin(live_.back(), now, budget_ends_at);
  ++counters_.starts_predicted;
}

void Regulator::note_onset(std::uint32_t address, Time at, Time now) noexcept {
  if (!predictor_->on_announced(address, at, now)) return;
  predict_at_ = predictor_->next_take(*policy_.lead);
  next_event_ = std::min(next_event_, predict_at_);  // if it is later now, advance() recomputes it
}

/// A START replaces the prediction of its burst, but not if it is due after that has ended.
void Regulator::hear_start(const StartSignal& start, Time now) noexcept {
  if (policy_.predict.from != PredictFrom::kSignals) return;
  const std::uint32_t address = start.flow.destination_address;
  const Time due = std::max(now, start.due.value_or(now));
  if (const Entry* live = find_live(job_at(address));
      live != nullptr && due <= live->silent_since + policy_.expiry)
    end(static_cast<std::size_t>(live - live_.data()), End::kReplaced, now);
  note_onset(address, due, now);
}

void Regulator::hear_payload(const FlowKey& flow, std::uint32_t payload_bytes, Time now) noexcept {
  const std::uint32_t address = flow.destination_address;
  if (policy_.predict.from == PredictFrom::kTraffic) note_onset(address, now, now);
  predictor_->count(address, payload_bytes);
  Entry* entry = live_.empty() ? nullptr : find_live(job_at(address));
  if (entry == nullptr) return;
  if (policy_.recovery == Recovery::kArrival)
    return end(static_cast<std::size_t>(entry - live_.data()), End::kArrival, now);
  entry->reached = 1;  // the true value is unknown: several flows may form the burst
  entry->active_at = now;
  next_event_ = std::min(next_event_, due_end(*entry).at);
}

}  // namespace outrider
