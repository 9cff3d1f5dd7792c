#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/span_log.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/policy/start_signal.h"
#include "switch/regulation/regulator/flow_memory.h"
#include "switch/regulation/regulator/period_predictor.h"
#include "switch/regulation/regulator/predicted_bursts.h"
#include "switch/regulation/regulator/regulator_counters.h"
#include "switch/regulation/regulator/regulator_entries.h"

namespace outrider {

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
/// An entry may begin later than its START. Until the `lead` before the burst is
/// due, the entry is live but uses no budget and regulates nothing. Every cause that ends
/// an entry may also end it before it has begun.
///
/// The table of entries is shared among senders, see entry_slots.h. When it is full, a START
/// may take the slot of an entry that has not begun, so far-off bursts keep nobody out.
///
/// A signer with a share of its own has budget and slots that others cannot use up (`signers` of
/// the policy). What is not signed cannot hold up its flows either: its START replaces an entry
/// that nobody signed, wherever that burst begins, and any other START of a flow is stale while
/// the signer's entry is live.
///
/// A burst may also be *predicted* from its job's rhythm (`predict`), see predicted_bursts.h.
///
/// A window clamp needs to know whose bursts these are: tell_begun() reports each entry
/// once, after it has begun.
///
/// The effective threshold is composed of the live entries that have begun (see
/// regulator_composition.h).
///
/// What a call costs does not depend on what the table holds, but for factors of log(max_entries).
/// A call processes at most kMostEvents begins and ends that are due: in order of time, and each
/// as of its own instant. Further ones are left for the calls that follow. A START, its copy or a
/// payload packet causes at most three of them later, so n that are due at once are processed
/// after n / (kMostEvents - 3) + 1 packets. While some are left, the regulator is *behind*:
///
///  - An entry may begin late, by these packets, also one that a START begins at once.
///  - An entry whose end is due regulates nothing, and payload and STARTs find it ended. The
///    composition still includes it, so the queue gets the threshold of a single entry instead,
///    whose end is not due: of those that have begun, the one that ends last as far as is known.
///    If kMostEvents entries that looked later turn out to be due, the queue is not regulated.
///  - An entry whose end is due still has its slot in the table, and its end counts late.
///  - No prediction begins.
///
/// Time never decreases from call to call. A packet costs O(1) while no entry is live, and DDL
/// payload costs a hash lookup otherwise. Each prediction that is due costs O(`max_jobs`), and
/// control operations (change_policy(), withdraw_all()) are O(n log n). Nothing allocates after
/// construction. Not thread-safe: the lcore of the egress port owns it.
///
/// Source: Kang et al., Sensors 2021, section 3.2. Deviations: entries and an expiry replace
/// the paper's counter, which leaks when a START or a burst is lost. START names the
/// sequence number from which payload counts as the burst, so a retransmission of earlier
/// data does not end regulation. Regulation may begin by due time, which the paper's signal
/// does not carry.
class Regulator {
 public:
  /// Begins and ends that a call processes at most. Ends of one job's entries often coincide.
  static constexpr std::uint32_t kMostEvents = RegulatorEntries::kMostEvents;

  /// @param stretches  that stretches() gives, the first ones
  explicit Regulator(const RegulationPolicy& policy, std::size_t stretches = 0);

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
    return entries_.table().size() != 0 && entries_.table().may_have(flow);
  }

  /// Sets the lead from now on, where the policy's is "auto". An entry keeps its begin. It is zero
  /// at first. @param lead >= 0
  void set_lead(Duration lead) noexcept;
  /// Returns the lead; nothing: regulation begins with START.
  [[nodiscard]] const std::optional<Duration>& lead() const noexcept { return lead_; }

  /// What a packet is to the entry of its flow.
  enum class Standing : std::uint8_t {
    kNone,       ///< the flow has no entry
    kAnnounced,  ///< the entry has not begun, or the packet is of earlier data
    kOfBurst,
  };
  /// @param sequence  of the packet's first byte
  [[nodiscard]] Standing standing_of(const FlowKey& flow, std::uint32_t sequence,
                                     Time now) noexcept;

  /// Applies `policy` from now on, also to live entries: those that it would have ended
  /// earlier end now. Entries that have begun keep the end that their budget gave them, and
  /// the others keep their begin. What signers had used so far stays with their numbers; a
  /// signer's entries that have not begun end with their begin if it has no share any more.
  /// @pre `max_entries`, the composition and the predictions
  /// are unchanged
  void change_policy(const RegulationPolicy& policy, Time now) noexcept;
  /// Ends every entry.
  void withdraw_all(Time now) noexcept;

  /// Returns the threshold composed of the entries that have begun, or nothing if none has. For
  /// the threshold while the regulator is behind see above. The reference is valid until the
  /// next call; it saves packets a copy through memory.
  [[nodiscard]] const std::optional<std::uint16_t>& threshold(Time now) noexcept {
    assert(next_event_ <= entries_.times().next());
    if (now >= next_event_) [[unlikely]]
      advance(now);
    return effective_;
  }

  using BegunBurst = outrider::BegunBurst;
  /// Returns whether tell_begun() has something to tell.
  [[nodiscard]] bool has_untold() const noexcept { return entries_.has_untold(); }
  /// Calls `hear(const BegunBurst&)` for live entries that have begun and were not reported yet,
  /// the earliest first, and for at most kMostEvents of them. It is up to date after
  /// threshold(now).
  template <class Hear>
  void tell_begun(Hear&& hear) noexcept {
    entries_.tell_begun(std::forward<Hear>(hear));
  }

  [[nodiscard]] std::uint32_t live_entries() const noexcept { return entries_.table().size(); }
  [[nodiscard]] const RegulatorCounters& counters() const noexcept { return entries_.counters(); }
  /// Returns zeros if predictions are off.
  [[nodiscard]] PeriodPredictor::Counters prediction_counters() const noexcept {
    return predictions_ ? predictions_->counters() : PeriodPredictor::Counters{};
  }
  /// For reports: threshold(now), and the total time until `now` with at least one entry that
  /// had begun. Both count begins and ends that are due by `now`. As they are const, they
  /// copy the regulator, which allocates, unless threshold(now) was called before. If it was and
  /// is still behind, they count what it has processed.
  [[nodiscard]] std::optional<std::uint16_t> threshold_at(Time now) const;
  [[nodiscard]] Duration regulated(Time now) const;
  /// Returns when that was, as far as it is kept. It copies as these do.
  [[nodiscard]] std::vector<TimeSpan> stretches(Time now) const;
  /// Returns the steps taken so far (begins and ends processed, and levels of heaps passed): for
  /// tests of what a call costs.
  [[nodiscard]] std::uint64_t steps() const noexcept {
    return entries_.steps() + (predictions_ ? predictions_->handled() : 0);
  }
  /// Returns the bytes of memory that one entry takes, tables included.
  static std::size_t bytes_per_entry() noexcept;

 private:
  static constexpr std::uint32_t kNone = RegulatorEntries::kNone;  ///< no slot
  static constexpr std::uint32_t kAllEvents = 0xFFFF'FFFF;

  ArmVerdict hear_copy(std::uint32_t live, const StartSignal& start, Time now) noexcept;
  void learn(const FlowKey& flow, std::uint32_t payload_bytes, bool accepted, Time now) noexcept;
  /// Processes at most `most` begins and ends that are due by `now`, in order of time.
  void advance(Time now, std::uint32_t most = kMostEvents) noexcept;
  void end(std::uint32_t slot, EntryEnd why, Time now) noexcept;
  /// Takes over what the entries and predictions have come to.
  void refresh(Time now) noexcept;

  /// A new connection on the same ports begins ahead of the old one for as long as TCP keeps
  /// TIME_WAIT (RFC 9293, 3.6.1; 60 s in Linux), and anywhere on the circle after that.
  static constexpr Duration kStaleFor = std::chrono::seconds(60);
  struct Seen {
    std::uint32_t announced_sequence = 0;
    std::uint16_t signer = 0;  ///< as its entry
    Time at{};                 ///< when its first payload came
  };

  // Read for each packet, so kept together.
  Time next_event_ = kNever;                ///< not after the first event of an entry or prediction
  std::optional<std::uint16_t> effective_;  ///< as of the last call
  bool predicts_ = false;
  RegulatorEntries entries_;
  std::optional<Duration> lead_;  ///< of the policy, or as set
  FlowMemory<Seen> seen_;         ///< flow -> its last burst
  std::optional<PredictedBursts> predictions_;
  Time stopped_at_ = kNever;  ///< the last call that left it behind; kNever: none
};

}  // namespace outrider
