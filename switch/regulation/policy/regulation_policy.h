#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/clock.h"
#include "common/core/or_auto.h"
#include "switch/regulation/policy/grant_policy.h"
#include "switch/regulation/policy/modes.h"
#include "switch/regulation/policy/signer_share.h"
#include "switch/regulation/policy/window_policy.h"

namespace outrider {

/// The event that ends the regulation of an announced burst. An expiry always ends it, too.
enum class Recovery : std::uint8_t {
  kArrival,   ///< the first announced payload byte (the PCN paper)
  kBurstEnd,  ///< the last byte if START gives the length, FIN, or no payload for `idle_end`
  kTimer,     ///< `hold` after regulation began
};

/// The bursts whose STARTs regulate a queue. Those of other queues are worth subscribing to where a
/// scheduler serves bursts first, but background holds memory that the bursts need.
enum class Subscription : std::uint8_t {
  kQueue,   ///< those that come to the queue itself (the PCN paper)
  kPort,    ///< those that come to any queue of its port
  kSwitch,  ///< those that come to any port of its switch, whose memory the queue shares
};

/// Selects the events of a job whose rhythm predicts its next burst.
enum class PredictFrom : std::uint8_t {
  kOff,
  kTraffic,  ///< first payload of a job after a pause
  kSignals,  ///< STARTs; helps if one is lost or comes with too little lead
};

/// Policy for bursts that are not announced yet, see period_predictor.h. A job is identified
/// by the destination address of its DDL payload. Validated before use.
struct PredictPolicy {
  /// A longer pause ends what was learned: no training job iterates so slowly.
  static constexpr Duration kMaxPeriod = std::chrono::seconds(60);

  PredictFrom from = PredictFrom::kOff;
  std::uint16_t threshold_packets = 10;               ///< h: what START would carry, > 0
  Duration idle_gap = std::chrono::milliseconds(50);  ///< in (0, kMaxPeriod]
  double tolerance = 0.25;                            ///< in (0, 0.5)
  std::uint32_t missed_limit = 3;                     ///< >= 1
  std::uint32_t max_jobs = 16;                        ///< >= 1
};

/// The rule that combines the thresholds of several jobs on one queue, see regulator_composition.h.
enum class Composition : std::uint8_t { kMin, kHarmonic, kDemand };

/// Policy of the regulator of one egress queue. Validated before use.
struct RegulationPolicy {
  RegulationMode mode = RegulationMode::kOff;
  /// No concern of the regulator: the switch announces bursts to it accordingly.
  Subscription hears = Subscription::kQueue;
  Recovery recovery = Recovery::kBurstEnd;
  /// DDL data keep the queue's initial threshold while it is regulated. A low threshold that is
  /// held to the burst's end would brake the burst too.
  bool spare_ddl = true;
  Duration hold = std::chrono::milliseconds(10);      ///< kTimer, > 0
  Duration idle_end = std::chrono::milliseconds(10);  ///< kBurstEnd, > 0: a few RTTs
  /// Longest time that an entry lives without DDL payload of its flow, > 0. The time before
  /// the entry's begin does not count.
  Duration expiry = std::chrono::milliseconds(100);
  /// A job as one sender knows it (the server's address and port that the sender announces
  /// bursts to) may hold a queue regulated for at most this share of `budget_window`. In (0, 1].
  double budget_share = 0.5;
  /// All jobs of one sender together. In (0, 1]. Absent: budget_share
  std::optional<double> budget_sender_share{};
  /// All senders together, signers included. In (0, 1]. Absent: see queue_share_of()
  std::optional<double> budget_queue_share{};
  Duration budget_window = std::chrono::seconds(10);  ///< > 0
  /// kPace: share of the drain rate that background gets while regulated, in [0, 1].
  double pace_floor = 0.05;
  /// kSteer: the queue of the same port that announced bursts go to.
  std::uint32_t steer_to_queue = 0;
  std::uint32_t max_entries = 1024;  ///< > 0; see entry_slots.h for what happens beyond it
  /// Entries of one sender, > 0. Absent: a quarter of max_entries, rounded up
  std::optional<std::uint32_t> max_entries_per_sender{};
  /// Greatest h of a START, > 0; a START that asks for more gets this. Absent: the switch
  /// takes its queue's `limit_packets`, above which h has no effect.
  std::optional<std::uint16_t> max_threshold_packets{};
  /// An announced burst weighs at most this much beside other jobs' [bytes], > 0. Absent: the
  /// switch takes what its link carries in `expiry`.
  std::optional<std::uint64_t> max_burst_bytes{};
  WindowPolicy window{};  ///< for the modes that hold windows
  /// Time before a burst is due at which its regulation begins, >= 0, if that is known. "auto":
  /// what told windows take to drain, see Regulator::set_lead(). Absent: regulation begins with
  /// START. Predictions need it.
  std::optional<OrAuto<Duration>> lead{};
  PredictPolicy predict{};
  Composition composition = Composition::kMin;
  GrantPolicy grant{};  ///< in any mode, kOff included
  /// No setting of a queue: the switch takes them from its signers. Their budget_share adds up to
  /// less than queue_share_of(), their max_entries to less than max_entries.
  SignerShares signers{};
};

constexpr std::uint32_t max_entries_per_sender_of(const RegulationPolicy& p) noexcept {
  return p.max_entries_per_sender.value_or((p.max_entries + 3) / 4);
}
/// Returns whether the switch measures how long before a burst regulation has to begin.
constexpr bool measures_lead(const RegulationPolicy& p) noexcept {
  return p.lead && !p.lead->value;
}
/// Returns the share of time that one sender may hold a queue regulated.
constexpr double sender_share_of(const RegulationPolicy& p) noexcept {
  return p.budget_sender_share.value_or(p.budget_share);
}
/// Returns the share of time for which a queue may be regulated at all: unless it is set, that
/// of a job, but at least three quarters, so that two jobs in turn have room.
constexpr double queue_share_of(const RegulationPolicy& p) noexcept {
  return p.budget_queue_share.value_or(std::max(p.budget_share, 0.75));
}

}  // namespace outrider
