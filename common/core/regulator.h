#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/flow_table.h"
#include "common/core/regulation_budget.h"
#include "common/core/regulation_policy.h"

namespace outrider {

/// Counts of decisions. Identity:
/// armed == sum of ended + live entries, where ended is every counter from
/// recovered_arrival to budget_exhausted, and replaced.
struct RegulatorCounters {
  std::uint64_t armed = 0;
  std::uint64_t repeated = 0;        ///< START of an iteration already known: no change
  std::uint64_t refused_budget = 0;  ///< the job has used its share of the window
  std::uint64_t refused_table = 0;   ///< every entry is live
  std::uint64_t recovered_arrival = 0;
  std::uint64_t recovered_burst_end = 0;
  std::uint64_t recovered_timer = 0;
  std::uint64_t expired = 0;           ///< no DDL payload for `expiry`
  std::uint64_t budget_exhausted = 0;  ///< ended because the share was used up
  std::uint64_t replaced = 0;          ///< START of a newer iteration of the same flow
};

enum class ArmVerdict : std::uint8_t { kArmed, kRepeated, kRefusedBudget, kRefusedTable };

/// Decides the marking threshold of one egress queue from the bursts announced
/// for it. An entry per announced flow, never a bare counter: a repeated START
/// changes nothing, and every entry ends by itself (recovery policy, expiry,
/// budget), so a lost packet or a dead worker cannot leave the queue regulated.
///
/// The effective threshold is a pure function of the live entries (their
/// minimum); a memo of it is recomputed whenever an entry comes or goes.
///
/// Time never decreases from call to call. O(1) per packet while nothing is
/// armed, a hash lookup per DDL payload while something is; nothing allocates
/// after construction. Not thread-safe: owned by the lcore of the egress port.
///
/// Source: Kang et al., Sensors 2021, section 3.2. Deviations: entries for the
/// counter, and an expiry, because the paper's counter leaks when a START or a
/// burst is lost; START names the sequence number from which payload counts as
/// the burst, so that a retransmission of earlier data does not end regulation.
class Regulator {
 public:
  explicit Regulator(const RegulationPolicy& policy);

  /// START for `flow`.
  /// @param announced_sequence TCP sequence number of the burst's first byte
  /// @param threshold_packets h, > 0: a START with zero never gets here
  ArmVerdict on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                      std::uint16_t threshold_packets, Time now) noexcept;

  /// DDL payload of `flow` reaches the queue. @param payload_bytes > 0
  void on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t payload_bytes,
                  bool fin, Time now) noexcept;

  /// Lowest threshold that a live entry asks for; nothing: not regulated.
  [[nodiscard]] std::optional<std::uint16_t> threshold(Time now) noexcept {
    if (now >= next_end_) [[unlikely]]
      end_due(now);
    return live_.empty() ? std::nullopt : std::optional(effective_);
  }

  [[nodiscard]] std::uint32_t live_entries() const noexcept {
    return static_cast<std::uint32_t>(live_.size());
  }
  [[nodiscard]] const RegulatorCounters& counters() const noexcept { return counters_; }
  /// Time with at least one live entry, up to `now`; entries due by then are
  /// taken as ended in time. Const: for reports.
  [[nodiscard]] Duration regulated(Time now) const noexcept;
  /// Bytes of memory that one entry takes, tables included.
  static std::size_t bytes_per_entry() noexcept;

 private:
  enum class State : std::uint8_t {
    kArmed,    ///< announced, not yet seen
    kInBurst,  ///< payload seen, still regulated (kBurstEnd, kTimer)
    kSeen,     ///< over; remembered so that a late copy of its START is known
  };
  enum class End : std::uint8_t { kArrival, kBurstEnd, kTimer, kExpiry, kBudget, kReplaced };
  struct Entry {
    FlowKey flow;
    std::uint32_t announced_sequence = 0;
    std::uint16_t threshold_packets = 0;
    State state = State::kArmed;
    Time armed_at{};
    Time active_at{};  ///< START or the latest payload
    Time budget_ends_at{};
  };
  struct DueEnd {
    Time at{};
    End why{};
  };

  [[nodiscard]] DueEnd due_end(const Entry& e) const noexcept;
  [[nodiscard]] static std::uint16_t lowest(const std::vector<Entry>& live) noexcept;
  Entry* find_live(const FlowKey& flow) noexcept;
  void end_due(Time now) noexcept;
  void end(std::size_t live_index, End why, Time at) noexcept;  ///< remove() and refresh()
  void remove(std::size_t live_index, End why, Time at) noexcept;
  void remember(const FlowKey& flow, std::uint32_t announced_sequence) noexcept;
  void refresh() noexcept;

  RegulationPolicy policy_;
  std::vector<Entry> live_;              ///< dense; capacity max_entries
  FlowTable<std::uint32_t> live_index_;  ///< flow -> position in live_
  FlowTable<std::uint32_t> seen_;        ///< flow -> announced sequence of its last burst
  std::vector<FlowKey> seen_order_;      ///< ring of max_entries, oldest is evicted
  std::size_t seen_next_ = 0;
  RegulationBudget budget_;
  RegulatorCounters counters_{};
  Time next_end_ = kNever;       ///< earliest due_end() of the live entries
  std::uint16_t effective_ = 0;  ///< lowest(live_), meaningful only if it is not empty
  Time regulated_since_{};
  Time last_end_{};  ///< latest end so far: entries may end out of order
  Duration regulated_{};
};

}  // namespace outrider
