#pragma once

#include <array>
#include <cstdint>

#include "common/core/drop_reason.h"
#include "common/core/traffic_class.h"
#include "common/net/udp_signal.h"
#include "common/regulation/period_predictor.h"
#include "common/regulation/window_counters.h"
#include "switch/report/pace_counters.h"

namespace outrider {

// Plain numbers that an owner hands out as they are: the report of the end and what is
// shown of a running switch are made of the same.

/// What one lane has counted. Identity: received + copied == handed + sum(dropped).
struct LaneCounts {
  std::uint64_t received = 0;
  std::uint64_t copied = 0;                           ///< by flooding, beyond the packet itself
  std::uint64_t handed = 0;                           ///< to egress ports
  std::array<std::uint64_t, kDropReasons> dropped{};  ///< before a port; class not known yet
  std::uint64_t signals_bad_code = 0;                 ///< START with threshold code zero
  /// Messages of the UDP form that were believed to be none, by udp_signal::Fault.
  std::array<std::uint64_t, udp_signal::kFaults> signals_bad_udp{};
  std::uint64_t signals_not_accepted = 0;  ///< looked like one, from where none is accepted
  std::uint64_t signals_over_rate = 0;     ///< beyond the source's token bucket
};

/// Everything counted at one egress queue, and its state.
/// Identity, per class: arrived == transmitted + sum(drops) + resident.
struct QueueCounts {
  std::uint64_t drain_bits_per_second = 0;
  std::uint32_t initial_threshold_packets = 0;
  std::uint32_t background_threshold_packets = 0;  ///< from which background is marked, now
  PerClass<std::uint64_t> arrived{};
  PerClass<std::uint64_t> transmitted{};
  PerClass<std::uint64_t> transmitted_bytes{};  ///< frame bytes
  PerClass<std::uint64_t> resident{};           ///< held packets and signals included
  std::uint64_t resident_bytes = 0;             ///< frame bytes; held packets included
  std::uint64_t held_packets = 0;               ///< of the resident ones: before the queue
  PerClass<std::array<std::uint64_t, kDropReasons>> drops{};
  PerClass<std::array<std::uint64_t, kMarkReasons>> marks{};
  std::uint64_t hop_records = 0;          ///< written into probes that left
  std::uint64_t hop_records_no_room = 0;  ///< probes that had no room left

  // Regulation. Identity: starts_armed + starts_predicted == recovered_* + expired +
  // budget_exhausted + replaced + predictions_missed + withdrawn + entries_left.
  std::uint64_t starts_armed = 0;
  std::uint64_t starts_predicted = 0;  ///< entries that no START announced
  std::uint64_t starts_repeated = 0;
  std::uint64_t starts_refused_budget = 0;
  std::uint64_t starts_refused_table = 0;
  std::uint64_t recovered_arrival = 0;
  std::uint64_t recovered_burst_end = 0;
  std::uint64_t recovered_timer = 0;
  std::uint64_t expired = 0;
  std::uint64_t budget_exhausted = 0;
  std::uint64_t replaced = 0;  ///< by a START of a newer iteration
  std::uint64_t predictions_missed = 0;
  std::uint64_t withdrawn = 0;  ///< a reload has switched regulation off
  std::uint64_t entries_left = 0;
  PeriodPredictor::Counters predictor{};  ///< zeros without predictions
  std::int64_t regulated_ns = 0;
  WindowCounters window{};  ///< of the modes that hold windows
  PaceCounters pace{};      ///< modes that pace
};

}  // namespace outrider
