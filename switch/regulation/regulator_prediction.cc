#include <algorithm>
#include <utility>

#include "switch/regulation/regulator.h"

namespace outrider {

/// Arms at most `most` predictions whose lead has begun, and computes when to look again.
/// @pre entries that are over by `now` have ended
void Regulator::arm_predicted(Time now, std::uint32_t most) noexcept {
  for (; most > 0; --most) {
    const auto prediction = predictor_->take(now, *lead_);
    if (!prediction) {
      predict_at_ = predictor_->next_take(*lead_);
      return;
    }
    ++events_processed_;
    add_predicted(*prediction, now);
  }
}

void Regulator::add_predicted(const PeriodPredictor::Prediction& prediction, Time now) noexcept {
  if (prediction.due + policy_.expiry <= now) return;  // the predicted burst has passed unnoticed
  const FlowKey job = job_at(static_cast<std::uint32_t>(prediction.key));
  if (const std::uint32_t live = find_live(job, now); live != kNone)
    remove(live, EntryEnd::kReplaced, now);
  const Time budget_ends_at = budget_.acquire(job, now);
  if (budget_ends_at <= now) {
    ++counters_.starts_refused_budget;
    return;
  }
  if (make_room(job, 0, now) != ArmVerdict::kArmed) return budget_.release(job, now);
  const std::uint32_t slot = add({.flow = job,
                                  .threshold_packets = policy_.predict.threshold_packets,
                                  .predicted = true,
                                  .expected_bytes = prediction.bytes,
                                  .begin_at = now,
                                  .silent_since = prediction.due});
  begin(slot, now, budget_ends_at);
  ++counters_.starts_predicted;
}

void Regulator::note_onset(std::uint32_t address, Time at, Time now) noexcept {
  if (!predictor_->on_announced(address, at, now)) return;
  predict_at_ = predictor_->next_take(*lead_);
  next_event_ = std::min(next_event_, predict_at_);  // if it is later now, advance() recomputes it
}

/// A START replaces the prediction of its burst, but not if it is due after that has ended.
void Regulator::hear_start(const StartSignal& start, Time now) noexcept {
  if (policy_.predict.from != PredictFrom::kSignals) return;
  const std::uint32_t address = start.flow.destination_address;
  const Time due = std::max(now, start.due.value_or(now));
  if (const std::uint32_t live = find_live(job_at(address), now);
      live != kNone && due <= slots_[live].silent_since + policy_.expiry)
    end(live, EntryEnd::kReplaced, now);
  note_onset(address, due, now);
}

void Regulator::hear_payload(const FlowKey& flow, std::uint32_t payload_bytes, Time now) noexcept {
  const std::uint32_t address = flow.destination_address;
  if (policy_.predict.from == PredictFrom::kTraffic) note_onset(address, now, now);
  predictor_->count(address, payload_bytes);
  if (live_index_.size() == 0) return;
  const std::uint32_t slot = find_live(job_at(address), now);
  if (slot == kNone) return;
  if (policy_.recovery == Recovery::kArrival) return end(slot, EntryEnd::kArrival, now);
  // How much has come is not known: several flows may form the burst.
  const bool first = std::exchange(slots_[slot].reached, 1) == 0;
  note_payload(slot, first, now);
}

}  // namespace outrider
