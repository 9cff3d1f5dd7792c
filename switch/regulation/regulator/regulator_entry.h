#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/regulator/regulator_counters.h"

namespace outrider {

/// The reasons for which an entry of a regulator ends.
enum class EntryEnd : std::uint8_t {
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

/// Returns the counter of entries that ended for that reason.
constexpr std::uint64_t& counter_of(RegulatorCounters& counters, EntryEnd why) noexcept {
  switch (why) {
    case EntryEnd::kArrival:
      return counters.recovered_arrival;
    case EntryEnd::kBurstEnd:
      return counters.recovered_burst_end;
    case EntryEnd::kTimer:
      return counters.recovered_timer;
    case EntryEnd::kExpiry:
      return counters.expired;
    case EntryEnd::kBudget:
      return counters.budget_exhausted;
    case EntryEnd::kReplaced:
      return counters.replaced;
    case EntryEnd::kEvicted:
      return counters.evicted;
    case EntryEnd::kMissed:
      return counters.predictions_missed;
    case EntryEnd::kWithdrawn:
      break;
  }
  return counters.withdrawn;
}

/// What a regulator keeps for one announced or predicted burst.
struct RegulatorEntry {
  struct Due {
    Time at{};
    EntryEnd why{};
  };
  /// An instant at which an entry begins or ends. At the same instant ends come first, because
  /// the budget needs them for the begins.
  struct Event {
    Time at{};
    bool begins = false;
    auto operator<=>(const Event&) const = default;
  };

  FlowKey flow;  ///< of a predicted entry: a key that stands for its job
  std::uint32_t announced_sequence = 0;
  std::uint16_t threshold_packets = 0;
  bool begun = false;
  bool predicted = false;
  std::uint16_t signer = 0;  ///< who is charged instead of the sender; 0: nobody
  std::optional<std::uint64_t> bytes{};
  std::uint64_t expected_bytes = 0;  ///< predicted: bytes of the job's last burst; 0: not known
  std::uint64_t reached = 0;         ///< announced bytes up to the furthest one seen; 0: none
  Time begin_at{};
  Time silent_since{};    ///< `expiry` counts from here or from the latest payload
  Time active_at{};       ///< time of the latest payload. @pre reached > 0
  Time budget_ends_at{};  ///< @pre begun

  /// Returns when and why the entry ends if no payload comes.
  [[nodiscard]] Due due_end(const RegulationPolicy& p) const noexcept {
    Due due{std::max(active_at, silent_since) + p.expiry,
            predicted && reached == 0 ? EntryEnd::kMissed : EntryEnd::kExpiry};
    const auto earlier = [&due](Time at, EntryEnd why) {
      if (at < due.at) due = {at, why};
    };
    if (p.recovery == Recovery::kTimer) earlier(begin_at + p.hold, EntryEnd::kTimer);
    if (p.recovery == Recovery::kBurstEnd && reached > 0)
      earlier(active_at + p.idle_end, EntryEnd::kBurstEnd);
    if (begun) earlier(budget_ends_at, EntryEnd::kBudget);
    return due;
  }
  /// Returns what happens to the entry next if no payload comes.
  [[nodiscard]] Event next_event(const RegulationPolicy& p) const noexcept {
    const Event end{due_end(p).at, false};
    return begun ? end : std::min(end, Event{begin_at, true});
  }
};

}  // namespace outrider
