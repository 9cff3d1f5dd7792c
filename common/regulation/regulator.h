#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/start_signal.h"
#include "common/regulation/entry_shares.h"
#include "common/regulation/period_predictor.h"
#include "common/regulation/regulation_budget.h"
#include "common/regulation/regulation_policy.h"
#include "common/regulation/regulator_composition.h"
#include "common/regulation/regulator_counters.h"

namespace outrider {

enum class ArmVerdict : std::uint8_t {
  kArmed,
  kRepeated,
  kTightened,  ///< a copy of a live START that asks for more: the entry takes that over
  kStale,      ///< of an earlier burst than the flow's live or last one
  kRefusedBudget,
  kRefusedSender,
  kRefusedTable
};

/// Decides the marking threshold of one egress queue from the bursts announced for it.
///
/// It keeps one entry per announced flow instead of a bare counter. So a repeated START
/// changes nothing, and every entry ends by itself (by the recovery policy, expiry or
/// budget): a lost packet or a dead worker cannot leave the queue regulated.
///
/// Announced sequence numbers are compared as serial numbers. A START ahead of the flow's
/// live entry replaces it. One that is behind the live entry, or behind the flow's last burst
/// and less than kStaleFor after it, is stale and changes nothing. A copy of a live START that
/// differs (one of the two is wrong or forged) can only make the entry stricter until it ends:
/// the lower threshold, the longer burst and the earlier begin hold. So an honest START gets at
/// least what it asks for, and its own copies change nothing, as the network only delays them.
/// No START asks for more packets than `max_threshold_packets`. Somebody who knows a flow can
/// still announce a burst ahead in its name: the flow's STARTs are stale until that entry ends.
///
/// An entry may begin later than its START. Until the policy's `lead` before the burst is
/// due, the entry is live but uses no budget and regulates nothing. Every cause that ends
/// an entry may also end it before it has begun.
///
/// The table of entries is shared among senders, see entry_shares.h. When it is full, a START
/// may take the place of an entry that has not begun, so far-off bursts keep nobody out.
///
/// A burst may also be *predicted* from its job's rhythm (`predict`). `lead` before the
/// expected burst, an entry of the job begins as if it had been announced. It stands for
/// all flows of the job: payload of any of them counts as the arrival. No packet is known
/// to be the last, so `burst_end` means that the job was idle for `idle_end`. The entry has
/// a budget of its own. If no payload comes, it ends `expiry` after the expected instant.
/// There is no timer: the first packet that reaches the queue after the begin is due begins
/// the entry, and an entry that no packet begins regulates nothing.
///
/// A window clamp needs to know whose bursts these are: tell_begun() reports each entry
/// once, after it has begun.
///
/// The effective threshold is a pure function of the live entries that have begun (see
/// regulator_composition.h). It is cached, and recomputed when an entry is added, begins or
/// ends.
///
/// Time never decreases from call to call. A packet costs O(1) while no entry is live, and
/// DDL payload costs a hash lookup otherwise. Each instant at which entries begin or end
/// costs O(live entries). Nothing allocates after construction. Not thread-safe: the lcore
/// of the egress port owns it.
///
/// Source: Kang et al., Sensors 2021, section 3.2. Deviations: entries and an expiry replace
/// the paper's counter, which leaks when a START or a burst is lost. START names the
/// sequence number from which payload counts as the burst, so a retransmission of earlier
/// data does not end regulation. Regulation may begin by due time, which the paper's signal
/// does not carry.
class Regulator {
 public:
  explicit Regulator(const RegulationPolicy& policy);

  /// Handles the announcement of a burst. @pre the ranges stated at the fields of StartSignal
  ArmVerdict on_start(const StartSignal& start, Time now) noexcept;

  /// Handles DDL payload of `flow` that reaches the queue. @param payload_bytes > 0
  /// @param accepted  whether its source is believed: predictions learn from no other
  void on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                  bool fin, Time now, bool accepted = true) noexcept;

  /// Returns whether on_payload() may do anything. As few flows are announced at a time, a
  /// caller that asks first mostly avoids a search of tables that are not in the cache.
  [[nodiscard]] bool concerns(const FlowKey& flow, Time now) const noexcept {
    if (now >= next_event_ || predicts_) [[unlikely]]
      return true;
    if (live_.empty()) return false;
    const std::uint64_t tag = tag_of(flow);
    return (live_tags_[tag / 64] >> (tag % 64) & 1) != 0;
  }

  /// Applies `policy` from now on, also to live entries: those that it would have ended
  /// earlier end now. Entries that have begun keep the end that their budget gave them, and
  /// the others keep their begin. @pre `max_entries`, the composition and the predictions
  /// are unchanged
  void change_policy(const RegulationPolicy& policy, Time now) noexcept;
  /// Ends every entry.
  void withdraw_all(Time now) noexcept;

  /// Returns the threshold composed of the entries that have begun, or nothing if none has.
  [[nodiscard]] std::optional<std::uint16_t> threshold(Time now) noexcept {
    if (now >= next_event_) [[unlikely]]
      advance(now);
    return begun_ == 0 ? std::nullopt : std::optional(effective_);
  }

  /// A burst whose regulation has begun.
  struct BegunBurst {
    FlowKey flow;                ///< predicted: any flow to its destination_address
    std::uint32_t sequence = 0;  ///< announced sequence number of its first byte
    std::uint64_t bytes = 0;     ///< announced, or (predicted) of the last burst; 0: not known
    bool predicted = false;
  };
  /// Calls `hear(const BegunBurst&)` for every live entry that has begun and was not reported
  /// yet. It is up to date after threshold(now).
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
  /// Returns zeros if predictions are off.
  [[nodiscard]] PeriodPredictor::Counters prediction_counters() const noexcept {
    return predictor_ ? predictor_->counters() : PeriodPredictor::Counters{};
  }
  /// For reports: threshold(now), and the total time until `now` with at least one entry that
  /// had begun. Both count begins and ends that are due by `now`. As they are const, they
  /// copy the regulator, which allocates, unless threshold(now) was called before.
  [[nodiscard]] std::optional<std::uint16_t> threshold_at(Time now) const;
  [[nodiscard]] Duration regulated(Time now) const;
  /// Returns the bytes of memory that one entry takes, tables included.
  static std::size_t bytes_per_entry() noexcept;

 private:
  enum class End : std::uint8_t {
    kArrival,
    kBurstEnd,
    kTimer,
    kExpiry,
    kBudget,
    kReplaced,
    kEvicted,
    kMissed,
    kWithdrawn
  };
  struct Entry {
    FlowKey flow;  ///< of a predicted entry: see job_at()
    std::uint32_t announced_sequence = 0;
    std::uint32_t place = 0;  ///< in shares_
    std::uint16_t threshold_packets = 0;
    bool begun = false;
    bool told = false;  ///< reported by tell_begun()
    bool predicted = false;
    std::optional<std::uint64_t> bytes{};
    std::uint64_t expected_bytes = 0;  ///< predicted: bytes of the job's last burst; 0: not known
    std::uint64_t reached = 0;         ///< announced bytes up to the furthest one seen; 0: none
    Time begin_at{};
    Time silent_since{};    ///< `expiry` counts from here or from the latest payload
    Time active_at{};       ///< time of the latest payload. @pre reached > 0
    Time budget_ends_at{};  ///< @pre begun
  };
  struct DueEnd {
    Time at{};
    End why{};
  };

  ArmVerdict make_room(const FlowKey& flow, Time now) noexcept;
  [[nodiscard]] Time begin_of(const StartSignal& start, Time now) const noexcept;
  [[nodiscard]] DueEnd due_end(const Entry& e) const noexcept;
  [[nodiscard]] Time next_event_of(const Entry& e) const noexcept;
  Entry* find_live(const FlowKey& flow) noexcept;
  [[nodiscard]] bool is_stale(const StartSignal& start, Time now) const noexcept;
  [[nodiscard]] bool is_seen(const StartSignal& start) const noexcept;
  ArmVerdict hear_copy(Entry& e, const StartSignal& start, Time now) noexcept;
  /// Processes all begins and ends that are due by `now`, in order of time.
  void advance(Time now) noexcept;
  void begin(Entry& e, Time at, Time budget_ends_at) noexcept;
  void begin_due(Time at) noexcept;
  void end_due(Time now) noexcept;
  void end(std::size_t live_index, End why, Time at) noexcept;  ///< remove() and refresh()
  void remove(std::size_t live_index, End why, Time at) noexcept;
  void count(End why) noexcept;
  void remember(const FlowKey& flow, std::uint32_t announced_sequence, Time now) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> weight_of(const Entry& e) const noexcept;
  void refresh() noexcept;
  void tag_live() noexcept;

  /// Returns a key that stands for a job in tables of flows; no real flow has source 0.
  [[nodiscard]] static FlowKey job_at(std::uint32_t address) noexcept { return {0, address, 0, 0}; }
  void arm_predicted(Time now) noexcept;
  void add_predicted(const PeriodPredictor::Prediction& prediction, Time now) noexcept;
  void hear_start(const StartSignal& start, Time now) noexcept;
  void hear_payload(const FlowKey& flow, std::uint32_t payload_bytes, Time now) noexcept;
  void note_onset(std::uint32_t address, Time at, Time now) noexcept;

  /// Returns one of 256 tags for a flow; live_tags_ holds the tags of live entries.
  [[nodiscard]] static std::uint64_t tag_of(const FlowKey& flow) noexcept {
    return hash_of(flow) >> 56;
  }
  /// A new connection on the same ports begins ahead of the old one for as long as TCP keeps
  /// TIME_WAIT (RFC 9293, 3.6.1; 60 s in Linux), and anywhere on the circle after that.
  static constexpr Duration kStaleFor = std::chrono::seconds(60);
  struct Seen {
    std::uint32_t announced_sequence = 0;
    Time at{};  ///< when its first payload came
  };

  static constexpr std::size_t kTagged = 64;  ///< with more live entries all tags are set

  // Read for each packet, so kept together.
  Time next_event_ = kNever;     ///< earliest begin or end of a live entry, or predict_at_
  std::uint32_t begun_ = 0;      ///< live entries that have begun
  std::uint32_t untold_ = 0;     ///< entries that have begun and were not reported
  std::uint16_t effective_ = 0;  ///< composed threshold; meaningful only if begun_ > 0
  bool predicts_ = false;
  std::array<std::uint64_t, 4> live_tags_{};  ///< bit t: a live entry's flow has tag t, or had it
  std::vector<Entry> live_;                   ///< dense; capacity max_entries
  RegulationPolicy policy_;
  FlowTable<std::uint32_t> live_index_;  ///< flow -> position in live_
  FlowTable<Seen> seen_;                 ///< flow -> its last burst
  std::vector<FlowKey> seen_order_;      ///< ring of max_entries; the oldest is evicted
  std::size_t seen_next_ = 0;
  EntryShares shares_;
  RegulationBudget budget_;
  std::optional<PeriodPredictor> predictor_;
  std::optional<JobWishes> wishes_;  ///< absent if the composition is kMin
  RegulatorCounters counters_{};
  Time predict_at_ = kNever;  ///< a prediction may be due then
  Time regulated_since_{};    ///< meaningful only if begun_ > 0
  Time last_end_{};           ///< latest end of a begun entry: ends may be out of order
  Duration regulated_{};      ///< without the current stretch
};

}  // namespace outrider
