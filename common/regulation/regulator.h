#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/start_signal.h"
#include "common/regulation/period_predictor.h"
#include "common/regulation/regulation_budget.h"
#include "common/regulation/regulation_policy.h"
#include "common/regulation/regulator_composition.h"
#include "common/regulation/regulator_counters.h"

namespace outrider {

enum class ArmVerdict : std::uint8_t { kArmed, kRepeated, kRefusedBudget, kRefusedTable };

/// Decides the marking threshold of one egress queue from the bursts announced
/// for it. An entry per announced flow, never a bare counter: a repeated START
/// changes nothing, and every entry ends by itself (recovery policy, expiry,
/// budget), so a lost packet or a dead worker cannot leave the queue regulated.
///
/// An entry may begin later than its START: it is live, in no one's budget and
/// regulates nothing until the policy's `lead` before the burst is due. Whatever
/// ends an entry may end it before it has begun.
///
/// A burst may be *predicted* from its job's rhythm (`predict`): `lead` before it is
/// expected an entry of the job begins, as if it had been announced. It stands for all
/// flows of the job: payload of any of them is the arrival, and none is told to be the
/// last, so `burst_end` means idle for `idle_end`; and it has a budget of its own. If no
/// payload comes, it ends `expiry` after the instant that was expected. There is no timer:
/// the first packet that comes to the queue from then on begins it, and one that meets no
/// packet regulates nothing.
///
/// Who holds windows has to know whose bursts these are: tell_begun() names each entry once,
/// from its begin on.
///
/// The effective threshold is a pure function of the live entries that have begun (see
/// regulator_composition.h); a memo of it is recomputed whenever an entry comes, begins
/// or goes.
///
/// Time never decreases from call to call. O(1) per packet while nothing is
/// armed, a hash lookup per DDL payload while something is, O(live entries) for
/// each instant at which some begin or end; nothing allocates after construction.
/// Not thread-safe: owned by the lcore of the egress port.
///
/// Source: Kang et al., Sensors 2021, section 3.2. Deviations: entries for the
/// counter, and an expiry, because the paper's counter leaks when a START or a
/// burst is lost; START names the sequence number from which payload counts as
/// the burst, so that a retransmission of earlier data does not end regulation; the
/// begin by due time, which the paper's signal does not carry.
class Regulator {
 public:
  explicit Regulator(const RegulationPolicy& policy);

  /// A burst is announced. @pre the ranges stated at the fields of StartSignal
  ArmVerdict on_start(const StartSignal& start, Time now) noexcept;

  /// DDL payload of `flow` reaches the queue. @param payload_bytes > 0
  void on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                  bool fin, Time now) noexcept;

  /// Would on_payload() do anything? Asked first, it spares a search of tables that are not in
  /// the cache: few flows are announced at a time.
  [[nodiscard]] bool concerns(const FlowKey& flow, Time now) const noexcept {
    if (now >= next_event_ || predicts_) [[unlikely]]
      return true;
    if (live_.empty()) return false;
    const std::uint64_t tag = tag_of(flow);
    return (live_tags_[tag / 64] >> (tag % 64) & 1) != 0;
  }

  /// From now on by that policy, live entries included: what it would have ended before
  /// ends now. Entries that have begun keep the end that their budget has given them, and
  /// those that have not keep their begin. @pre as many entries, the composition and the
  /// predictions as before
  void change_policy(const RegulationPolicy& policy, Time now) noexcept;
  /// Ends every entry.
  void withdraw_all(Time now) noexcept;

  /// What the entries that have begun come to; nothing: not regulated.
  [[nodiscard]] std::optional<std::uint16_t> threshold(Time now) noexcept {
    if (now >= next_event_) [[unlikely]]
      advance(now);
    return begun_ == 0 ? std::nullopt : std::optional(effective_);
  }

  /// A burst whose regulation has begun.
  struct BegunBurst {
    FlowKey flow;                ///< predicted: any to its destination_address
    std::uint32_t sequence = 0;  ///< announced, of its first byte
    std::uint64_t bytes = 0;     ///< announced, or those of the job's burst before; 0: not known
    bool predicted = false;
  };
  /// Gives `hear(const BegunBurst&)` every live entry that has begun and was not given yet.
  /// Up to date after threshold(now).
  template <class Hear>
  void tell_begun(Hear&& hear) noexcept {
    if (untold_ == 0) [[likely]]
      return;
    for (Entry& e : live_) {
      if (!e.begun || e.told) continue;
      e.told = true;
      hear(BegunBurst{e.flow, e.announced_sequence,
                      e.predicted ? e.expected_bytes : e.bytes.value_or(0), e.predicted});
    }
    untold_ = 0;
  }

  [[nodiscard]] std::uint32_t live_entries() const noexcept {
    return static_cast<std::uint32_t>(live_.size());
  }
  [[nodiscard]] const RegulatorCounters& counters() const noexcept { return counters_; }
  /// Zeros without predictions.
  [[nodiscard]] PeriodPredictor::Counters prediction_counters() const noexcept {
    return predictor_ ? predictor_->counters() : PeriodPredictor::Counters{};
  }
  /// For reports: threshold(now) and the time with at least one entry that has begun, up
  /// to `now`; what is due by then is taken as begun and ended in time. Const, so they may
  /// allocate, unless threshold(now) was called before.
  [[nodiscard]] std::optional<std::uint16_t> threshold_at(Time now) const;
  [[nodiscard]] Duration regulated(Time now) const;
  /// Bytes of memory that one entry takes, tables included.
  static std::size_t bytes_per_entry() noexcept;

 private:
  enum class End : std::uint8_t {
    kArrival,
    kBurstEnd,
    kTimer,
    kExpiry,
    kBudget,
    kReplaced,
    kMissed,
    kWithdrawn
  };
  struct Entry {
    FlowKey flow;  ///< predicted: see job_at()
    std::uint32_t announced_sequence = 0;
    std::uint16_t threshold_packets = 0;
    bool begun = false;
    bool told = false;  ///< by tell_begun()
    bool predicted = false;
    std::optional<std::uint64_t> bytes{};
    std::uint64_t expected_bytes = 0;  ///< predicted: of the job's burst before; 0: not known
    std::uint64_t reached = 0;         ///< announced bytes up to the furthest one seen; 0: none is
    Time begin_at{};
    Time silent_since{};    ///< `expiry` counts from then on, or from the latest payload
    Time active_at{};       ///< the latest payload. @pre reached > 0
    Time budget_ends_at{};  ///< @pre begun
  };
  struct DueEnd {
    Time at{};
    End why{};
  };

  [[nodiscard]] Time begin_of(const StartSignal& start, Time now) const noexcept;
  [[nodiscard]] DueEnd due_end(const Entry& e) const noexcept;
  [[nodiscard]] Time next_event_of(const Entry& e) const noexcept;
  Entry* find_live(const FlowKey& flow) noexcept;
  [[nodiscard]] bool is_known(const StartSignal& start) const noexcept;
  /// Begins and ends what is due by `now`, in the order of time.
  void advance(Time now) noexcept;
  void begin(Entry& e, Time at, Time budget_ends_at) noexcept;
  void begin_due(Time at) noexcept;
  void end_due(Time now) noexcept;
  void end(std::size_t live_index, End why, Time at) noexcept;  ///< remove() and refresh()
  void remove(std::size_t live_index, End why, Time at) noexcept;
  void count(End why) noexcept;
  void remember(const FlowKey& flow, std::uint32_t announced_sequence) noexcept;
  void refresh() noexcept;
  void tag_live() noexcept;

  /// Names a job among the flows: no flow comes from nowhere.
  [[nodiscard]] static FlowKey job_at(std::uint32_t address) noexcept { return {0, address, 0, 0}; }
  void arm_predicted(Time now) noexcept;
  void add_predicted(const PeriodPredictor::Prediction& prediction, Time now) noexcept;
  void hear_start(const StartSignal& start, Time now) noexcept;
  void hear_payload(const FlowKey& flow, std::uint32_t payload_bytes, Time now) noexcept;
  void note_onset(std::uint32_t address, Time at) noexcept;

  /// One of 256 that stand for the flows of live entries.
  [[nodiscard]] static std::uint64_t tag_of(const FlowKey& flow) noexcept {
    return hash_of(flow) >> 56;
  }
  static constexpr std::size_t kTagged = 64;  ///< with more live entries the tags say nothing

  // What each packet asks for, together.
  Time next_event_ = kNever;     ///< earliest begin or end of a live entry, or predict_at_
  std::uint32_t begun_ = 0;      ///< of the live entries
  std::uint32_t untold_ = 0;     ///< of those that have begun
  std::uint16_t effective_ = 0;  ///< composed threshold; meaningful only if some have begun
  bool predicts_ = false;
  std::array<std::uint64_t, 4> live_tags_{};  ///< bit t: a live entry's flow has tag t, or had
  std::vector<Entry> live_;                   ///< dense; capacity max_entries
  RegulationPolicy policy_;
  FlowTable<std::uint32_t> live_index_;  ///< flow -> position in live_
  FlowTable<std::uint32_t> seen_;        ///< flow -> announced sequence of its last burst
  std::vector<FlowKey> seen_order_;      ///< ring of max_entries, oldest is evicted
  std::size_t seen_next_ = 0;
  RegulationBudget budget_;
  std::optional<PeriodPredictor> predictor_;
  std::optional<JobWishes> wishes_;  ///< unless the composition is kMin
  RegulatorCounters counters_{};
  Time predict_at_ = kNever;  ///< a prediction may be due then
  Time regulated_since_{};    ///< meaningful only if some have begun
  Time last_end_{};           ///< latest end of one that had begun: they may be out of order
  Duration regulated_{};      ///< without the current stretch
};

}  // namespace outrider
