#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/policy/start_signal.h"
#include "switch/regulation/regulator/period_predictor.h"
#include "switch/regulation/regulator/regulator_entries.h"

namespace outrider {

/// Arms entries of a regulator for bursts that are predicted from the rhythm of their jobs. `lead`
/// before the expected burst, an entry of the job begins as if it had been announced. It stands for
/// all flows of the job: payload of any of them counts as the arrival. No packet is known to be the
/// last, so `burst_end` means that the job was idle for `idle_end`. The entry has a budget of its
/// own. If no payload comes, it ends `expiry` after the expected instant.
///
/// There is no timer: the first packet that reaches the queue after the begin is due begins the
/// entry, and an entry that no packet begins regulates nothing.
///
/// Each prediction that is due costs O(`max_jobs`). Nothing allocates after construction. Not
/// thread-safe.
class PredictedBursts {
 public:
  explicit PredictedBursts(const PredictPolicy& policy);

  /// Learns from a START that is not stale. It replaces the prediction of its burst, but not if it
  /// is due after that has ended. @return whether an entry ended
  bool on_start(const StartSignal& start, Duration lead, RegulatorEntries& entries,
                Time now) noexcept;
  /// Learns from payload, which may be of a predicted burst. @return whether an entry ended
  bool on_payload(const FlowKey& flow, std::uint32_t payload_bytes, Duration lead,
                  RegulatorEntries& entries, Time now) noexcept;
  /// Counts payload whose source is not believed: nothing is learned from it.
  void on_unbelieved_payload() noexcept { predictor_.count_not_accepted(); }
  void change_lead(Duration lead) noexcept { next_ = predictor_.next_take(lead); }

  /// Returns when arm() may have something to do.
  [[nodiscard]] Time next() const noexcept { return next_; }
  /// Arms at most `most` predictions whose lead has begun. @pre entries are not behind
  void arm(RegulatorEntries& entries, Duration lead, Time now, std::uint32_t most) noexcept;

  [[nodiscard]] const PeriodPredictor::Counters& counters() const noexcept {
    return predictor_.counters();
  }
  /// Returns the predictions handled so far.
  [[nodiscard]] std::uint64_t handled() const noexcept { return handled_; }

 private:
  void note_onset(std::uint32_t address, Time at, Duration lead, Time now) noexcept;

  PeriodPredictor predictor_;
  Time next_ = kNever;
  std::uint64_t handled_ = 0;
};

}  // namespace outrider
