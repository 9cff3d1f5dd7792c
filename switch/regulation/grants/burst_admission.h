#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_key.h"
#include "common/core/indexed_heap.h"
#include "switch/regulation/grants/grant_counters.h"
#include "switch/regulation/grants/grant_debts.h"
#include "switch/regulation/grants/grant_line.h"
#include "switch/regulation/policy/grant_policy.h"
#include "switch/regulation/policy/start_signal.h"
#include "switch/regulation/regulator/entry_slots.h"
#include "switch/regulation/regulator/flow_memory.h"

namespace outrider {

/// Decides when the answers (ACKs) to STARTs pass, so that workers, which wait for them, send their
/// bursts to one egress queue in an order and only as many at a time as fit.
///
/// A burst is *announced* by its START, *waits* from the instant at which its answer comes back, is
/// *granted* when that passes, and is over with its last announced byte. The caller keeps the
/// answers. The next of the line is granted if what is *ahead* of it (the bytes that were granted
/// and have not come, and those of bursts in the queue) leaves room for it in `budget_bytes`, or
/// takes the link at most `overlap`. So what was granted and has not left never exceeds
/// budget_bytes, or overlap and one burst, except by bursts that nobody granted.
///
/// Nobody waits without an end, whatever is lost or wrong:
///  - A burst whose answer has not come is not granted, takes no room, and leaves the table at the
///    end of its patience. One that comes without a grant counts as granted.
///  - A granted burst that is silent for `idle` lapses: it takes no room until it goes on. It is
///    over when its time is, which is as long as its patience was to be if it were announced then.
///  - An answer that waits passes at the end of its patience: `max_wait`, or else `expiry` and the
///    time that the link takes for kSlowness times the bytes that all bursts in the table announce,
///    its own included, at most kMostPatience.
///  - A burst that nobody has a slot for is not known here, and its answer passes at once.
///  - A granted burst that does not come, or comes at less than a kSlowest-th of the link's rate,
///    wastes time. A sender who does so beyond its share (see GrantDebts) while others wait is
///    granted as if its bursts were nothing: they take no room until its debt is paid off.
/// It waits for nothing that waits for it: a burst is granted only when its answer is here, so
/// every switch nearer to the server has granted it, and a switch that is farther holds nothing for
/// it.
///
/// Signals may be repeated or lost. A START that is known changes nothing, and the answer of a
/// granted burst passes again. A START ahead of its flow's burst replaces it; one behind is stale.
/// Bytes that are announced beyond kMostBytes do not count.
///
/// Time never decreases from call to call. A call processes at most kMostEvents instants that are
/// due; each costs O(log max_entries), and payload of flows without a burst costs O(1). Allocates
/// only at construction. Not thread-safe: the lcore of the egress port owns it.
///
/// Source: the PCN paper (Kang et al., Sensors 2021) has the worker wait for the answer; to hold it
/// is ours. The order by size is that of pHost and Homa's receivers, which grant packets, not
/// bursts.
class BurstAdmission {
 public:
  static constexpr std::uint32_t kMostEvents = 32;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  static constexpr std::uint64_t kSlowness = 4;
  static constexpr std::uint64_t kSlowest = 64;
  static constexpr int kForgiven = 4;  ///< lapses at once that make no debt
  static constexpr Duration kMostPatience = std::chrono::seconds(60);

  struct Setup {
    GrantPolicy policy{};
    std::uint64_t budget_bytes = 0;  ///< policy's, or derived
    Duration idle{};                 ///< policy's, or derived
    Duration expiry{};
    std::uint32_t max_entries = 0;     ///< > 0
    std::uint32_t max_per_sender = 0;  ///< > 0
    double bytes_per_ns = 0;           ///< of the link, > 0
    std::uint32_t frame_bytes = 0;     ///< of a full frame, > 0
  };
  explicit BurstAdmission(const Setup& setup);

  enum class StartVerdict : std::uint8_t {
    kEntered,
    kRepeated,  ///< its burst is known
    kStale,     ///< its flow announced a later burst
    kRefused,   ///< no slot: its answer will pass at once
  };
  struct Heard {
    StartVerdict verdict{};
    /// Slot of an answer to an earlier START of the flow. It waits no more, and must end.
    std::optional<std::uint32_t> replaced{};
  };
  /// Handles the announcement of a burst.
  Heard on_start(const StartSignal& start, Time now) noexcept;

  enum class AckVerdict : std::uint8_t {
    kPass,     ///< it is no answer to an announced burst, or to one that was granted before
    kGranted,  ///< it passes, and so its burst is granted
    kWait,     ///< take() will name it by its slot
    kDrop,     ///< a copy of an answer that waits
  };
  struct Answer {
    AckVerdict verdict = AckVerdict::kPass;
    std::uint32_t slot = 0;  ///< < max_entries. @pre kWait or kGranted
  };
  /// Handles an answer. @param flow,sequence  of the START that it answers
  /// @param queued_bytes  of bursts that wait in the queue
  Answer on_ack(const FlowKey& flow, std::uint32_t sequence, std::uint64_t queued_bytes,
                Time now) noexcept;

  /// Returns whether on_payload() may do anything.
  [[nodiscard]] bool concerns(const FlowKey& flow) const noexcept { return table_.may_have(flow); }
  /// Handles payload that reaches the queue. @param bytes > 0
  void on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes, bool fin,
                  Time now) noexcept;

  /// An answer that passes.
  struct Release {
    std::uint32_t slot = 0;  ///< as on_ack() named it; it is free from now on
    bool granted = false;    ///< in its order; else because it, or its burst, waited no longer
  };
  /// Returns the next answer that passes, if any. Call it until there is none after every call
  /// above, and at next_event(). @param queued_bytes  as for on_ack()
  [[nodiscard]] std::optional<Release> take(std::uint64_t queued_bytes, Time now) noexcept;
  /// Returns when take() may have another one though nothing else is called; kNever: not before.
  [[nodiscard]] Time next_event(std::uint64_t queued_bytes, Time now) const noexcept;

  /// Returns the START of the burst that has, or last had, that slot.
  [[nodiscard]] const StartSignal& start_of(std::uint32_t slot) const noexcept {
    return entries_[slot].start;
  }
  void change_rate(double bytes_per_ns) noexcept { setup_.bytes_per_ns = bytes_per_ns; }

  /// Returns the bytes that were granted and have not come.
  [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::uint32_t bursts() const noexcept { return table_.size(); }
  /// Returns the number of answers that wait.
  [[nodiscard]] std::uint32_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] const GrantCounters& counters() const noexcept { return counters_; }

 private:
  enum class State : std::uint8_t {
    kAnnounced,  ///< its answer has not come
    kWaiting,    ///< its answer is here
    kGranted,    ///< takes room
    kLapsed,     ///< granted, but silent or of a sender in debt: takes no room
  };
  struct Seen {
    std::uint32_t sequence = 0;
    std::uint64_t bytes = 0;  ///< that have come
    Time at{};
  };
  struct Entry {
    StartSignal start{};
    std::uint64_t bytes = 0;    ///< that it is taken to have
    std::uint64_t reached = 0;  ///< of these, up to the furthest that has come
    State state = State::kAnnounced;
    bool known = false;  ///< it is over with `bytes`
    Time grant_from{};   ///< not granted before
    Time ends_at{};      ///< of its patience, or of its time once it is granted
    Time since{};        ///< kWaiting: its answer came; kGranted: the last payload or the grant

    [[nodiscard]] std::uint64_t left() const noexcept { return bytes - std::min(bytes, reached); }
    void size(const Seen* last, std::uint64_t otherwise) noexcept;
  };
  /// As Regulator has it: a new connection on the same ports may begin behind the old one.
  static constexpr Duration kStaleFor = std::chrono::seconds(60);

  [[nodiscard]] bool make_room(const FlowKey& flow) noexcept;
  void enter(const StartSignal& start, Time now) noexcept;
  [[nodiscard]] const Seen* seen(const FlowKey& flow, Time now) const noexcept;
  [[nodiscard]] Time next_of(const Entry& e, std::uint32_t slot) const noexcept;
  [[nodiscard]] bool fits(std::uint32_t slot, std::uint64_t queued_bytes, Time now) const noexcept;
  [[nodiscard]] bool in_debt(std::uint32_t slot, Time now) const noexcept {
    return debts_.in_debt(RegulationBudget::sender_of(entries_[slot].start.flow), now);
  }
  [[nodiscard]] bool process(std::uint32_t slot, Time now) noexcept;
  void lapse(Entry& e) noexcept;
  void release(std::uint32_t slot, std::uint64_t& why, Time now) noexcept;
  void run(std::uint32_t slot, Time now) noexcept;
  void blame(const Entry& e, std::uint32_t bytes, Time now) noexcept;
  void end(std::uint32_t slot, std::uint64_t& why, Time now) noexcept;

  Setup setup_;
  EntrySlots table_;            ///< an entry waits there until its answer or payload comes
  std::vector<Entry> entries_;  ///< by slot
  GrantLine line_;
  GrantDebts debts_;
  IndexedHeap<Time> events_;  ///< of all entries, or an instant before
  FlowMemory<Seen> seen_;     ///< flow -> its last burst
  std::uint64_t in_flight_ = 0;
  std::uint64_t announced_ = 0;  ///< bytes of all entries
  std::uint64_t number_ = 0;     ///< of the next START
  std::uint32_t waiting_ = 0;    ///< entries that wait
  GrantCounters counters_{};
};

}  // namespace outrider
