#include "switch/regulation/regulator/predicted_bursts.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace outrider {
namespace {

/// Returns a key that stands for a job in tables of flows; no real flow has source 0.
FlowKey job_at(std::uint32_t address) noexcept { return {0, address, 0, 0}; }

void arm_predicted(const PeriodPredictor::Prediction& prediction, RegulatorEntries& entries,
                   Time now) noexcept {
  const RegulationPolicy& policy = entries.policy();
  if (prediction.due + policy.expiry <= now) return;  // the predicted burst has passed unnoticed
  const FlowKey job = job_at(static_cast<std::uint32_t>(prediction.key));
  if (const std::uint32_t live = entries.find(job, now); live != RegulatorEntries::kNone)
    entries.remove(live, EntryEnd::kReplaced, now);
  const ArmVerdict verdict = entries.arm({.flow = job,
                                          .threshold_packets = policy.predict.threshold_packets,
                                          .predicted = true,
                                          .expected_bytes = prediction.bytes,
                                          .begin_at = now,
                                          .silent_since = prediction.due},
                                         now);
  entries.counters().starts_predicted += verdict == ArmVerdict::kArmed;
}

}  // namespace

PredictedBursts::PredictedBursts(const PredictPolicy& policy)
    : predictor_({.idle_gap = policy.idle_gap,
                  .max_period = PredictPolicy::kMaxPeriod,
                  .tolerance = policy.tolerance,
                  .missed_limit = policy.missed_limit,
                  .max_jobs = policy.max_jobs}) {
  assert(policy.from != PredictFrom::kOff);
}

void PredictedBursts::arm(RegulatorEntries& entries, Duration lead, Time now,
                          std::uint32_t most) noexcept {
  assert(!entries.times().due(now));
  for (; most > 0; --most) {
    const auto prediction = predictor_.take(now, lead);
    if (!prediction) {
      next_ = predictor_.next_take(lead);
      return;
    }
    ++handled_;
    arm_predicted(*prediction, entries, now);
  }
}

void PredictedBursts::note_onset(std::uint32_t address, Time at, Duration lead, Time now) noexcept {
  if (predictor_.on_announced(address, at, now)) next_ = predictor_.next_take(lead);
}

bool PredictedBursts::on_start(const StartSignal& start, Duration lead, RegulatorEntries& entries,
                               Time now) noexcept {
  const RegulationPolicy& policy = entries.policy();
  if (policy.predict.from != PredictFrom::kSignals) return false;
  const std::uint32_t address = start.flow.destination_address;
  const Time due = std::max(now, start.due.value_or(now));
  const std::uint32_t live = entries.find(job_at(address), now);
  const bool replaces =
      live != RegulatorEntries::kNone && due <= entries[live].silent_since + policy.expiry;
  if (replaces) entries.remove(live, EntryEnd::kReplaced, now);
  note_onset(address, due, lead, now);
  return replaces;
}

bool PredictedBursts::on_payload(const FlowKey& flow, std::uint32_t payload_bytes, Duration lead,
                                 RegulatorEntries& entries, Time now) noexcept {
  const std::uint32_t address = flow.destination_address;
  const RegulationPolicy& policy = entries.policy();
  if (policy.predict.from == PredictFrom::kTraffic) note_onset(address, now, lead, now);
  predictor_.count(address, payload_bytes);
  if (entries.table().size() == 0) return false;
  const std::uint32_t slot = entries.find(job_at(address), now);
  if (slot == RegulatorEntries::kNone) return false;
  if (policy.recovery == Recovery::kArrival) {
    entries.remove(slot, EntryEnd::kArrival, now);
    return true;
  }
  // How much has come is not known: several flows may form the burst.
  const bool first = std::exchange(entries[slot].reached, 1) == 0;
  entries.note_payload(slot, first, now);
  return false;
}

}  // namespace outrider
