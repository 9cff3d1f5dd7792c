#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/recency_list.h"
#include "switch/regulation/policy/regulation_policy.h"
#include "switch/regulation/regulator/entry_slots.h"
#include "switch/regulation/regulator/entry_times.h"
#include "switch/regulation/regulator/regulated_time.h"
#include "switch/regulation/regulator/regulation_budget.h"
#include "switch/regulation/regulator/regulator_composition.h"
#include "switch/regulation/regulator/regulator_counters.h"
#include "switch/regulation/regulator/regulator_entry.h"

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

/// A burst whose regulation has begun.
struct BegunBurst {
  FlowKey flow;                ///< predicted: any flow to its destination_address
  std::uint32_t sequence = 0;  ///< announced sequence number of its first byte
  std::uint64_t bytes = 0;     ///< announced, or (predicted) of the last burst; 0: not known
  bool predicted = false;
};

/// The live entries of a regulator: adds, begins and ends them, and composes the threshold of those
/// that have begun. What STARTs, payload and predictions mean for an entry is the caller's concern.
///
/// An entry is added if there is a slot for it, and begins if the budget of its job, sender and
/// queue allows it. Begins and ends happen in advance(), in order of time and each as of its own
/// instant. While some that are due are left, the entries are *behind*, see regulator.h.
///
/// Time never decreases from call to call. Nothing allocates after construction. Not thread-safe.
class RegulatorEntries {
 public:
  using Entry = RegulatorEntry;
  static constexpr std::uint32_t kNone = EntrySlots::kNone;  ///< no slot
  static constexpr std::uint32_t kMostEvents = 32;           ///< see regulator.h

  /// @param stretches  of regulated time that are kept
  RegulatorEntries(const RegulationPolicy& policy, std::size_t stretches);

  [[nodiscard]] const EntrySlots& table() const noexcept { return table_; }
  [[nodiscard]] const EntryTimes& times() const noexcept { return times_; }
  [[nodiscard]] const RegulationPolicy& policy() const noexcept { return policy_; }

  /// Returns the slot of the flow's live entry, or kNone. An entry whose end is due may be found
  /// while the entries are behind: it ends out of its turn.
  [[nodiscard]] std::uint32_t find(const FlowKey& flow, Time now) noexcept {
    const std::uint32_t slot = table_.find(flow);
    if (slot == kNone || !times_.due(now)) [[likely]]
      return slot;
    return find_lasting(slot, now);
  }
  [[nodiscard]] Entry& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }

  /// Adds an entry, which begins at once if that is due and nothing is behind. Counts a refusal.
  /// @pre its flow has no entry. @return kArmed, or why it is refused
  ArmVerdict arm(const Entry& e, Time now) noexcept;
  /// Makes an entry as strict as this, if it is not stricter. @return whether that changed it
  bool tighten(std::uint32_t slot, std::uint16_t threshold_packets,
               const std::optional<std::uint64_t>& bytes, Time begin_at) noexcept;
  /// Notes payload of the entry's burst. @param first  that has come of it
  void note_payload(std::uint32_t slot, bool first, Time now) noexcept;
  /// Ends an entry, and counts why.
  void remove(std::uint32_t slot, EntryEnd why, Time at) noexcept;

  /// Processes at most `most` begins and ends that are due by `now`, in order of time.
  /// @return how many more it might have processed
  std::uint32_t advance(Time now, std::uint32_t most) noexcept;
  /// Returns the threshold of the entries that have begun; nothing if none has.
  [[nodiscard]] std::optional<std::uint16_t> threshold(Time now) noexcept;

  /// Applies `policy` to all entries. @pre nothing is behind; see Regulator::change_policy()
  void change_policy(const RegulationPolicy& policy, Time now) noexcept;
  void remove_all(EntryEnd why, Time now) noexcept;

  /// Returns whether tell_begun() has something to tell.
  [[nodiscard]] bool has_untold() const noexcept { return untold_.oldest() != kNone; }
  /// See Regulator::tell_begun().
  template <class Hear>
  void tell_begun(Hear&& hear) noexcept {
    for (std::uint32_t left = kMostEvents; has_untold() && left > 0; --left) {
      const std::uint32_t slot = untold_.oldest();
      untold_.remove(slot);
      const Entry& e = slots_[slot];
      assert(e.begun);
      hear(BegunBurst{e.flow, e.announced_sequence,
                      e.predicted ? e.expected_bytes : e.bytes.value_or(0), e.predicted});
    }
  }

  /// Returns the time with an entry that had begun, which is known until the first event that may
  /// be due: times().next().
  [[nodiscard]] const RegulatedTime& regulated() const noexcept { return time_; }
  [[nodiscard]] RegulatorCounters& counters() noexcept { return counters_; }
  [[nodiscard]] const RegulatorCounters& counters() const noexcept { return counters_; }
  /// Returns the begins and ends processed, and the levels of heaps passed.
  [[nodiscard]] std::uint64_t steps() const noexcept {
    return events_processed_ + times_.steps() + wishes_.steps();
  }

 private:
  using Event = RegulatorEntry::Event;

  [[nodiscard, gnu::noinline]] std::uint32_t find_lasting(std::uint32_t slot, Time now) noexcept;
  ArmVerdict make_room(const Entry& e, Time now) noexcept;
  void process(std::uint32_t slot) noexcept;
  void begin(std::uint32_t slot, Time at, Time budget_ends_at) noexcept;
  void weigh(std::uint32_t slot) noexcept;

  // Asked for each packet, so they come first.
  RecencyList untold_;  ///< slots of entries that have begun and were not reported
  EntrySlots table_;
  RegulationPolicy policy_;
  std::vector<Entry> slots_;  ///< by its number
  EntryTimes times_;
  RegulationBudget budget_;
  JobWishes wishes_;    ///< of entries that have begun
  RegulatedTime time_;  ///< with an entry that has begun
  RegulatorCounters counters_{};
  std::uint64_t events_processed_ = 0;
};

}  // namespace outrider
