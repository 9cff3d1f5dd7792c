#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/histogram.h"
#include "common/core/span_log.h"
#include "common/core/traffic_class.h"
#include "common/telemetry/run_report.h"
#include "switch/report/counts.h"

namespace outrider::sw {

/// Record that one egress queue keeps of one burst (one job, worker, iteration, direction).
struct QueueBurstRecord {
  BurstIdentity identity;
  std::int64_t first_at_ns = 0;             ///< arrival of its first packet, switch clock
  std::int64_t last_at_ns = 0;              ///< departure of its last packet so far
  PerClass<std::uint32_t> start_packets{};  ///< occupancy that its first packet found
  std::uint64_t start_bytes = 0;
  /// Largest occupancy from the iteration's first packet, of any worker, to the latest packet
  /// of this burst.
  std::uint32_t max_packets = 0;
  std::uint64_t packets = 0;
  std::uint64_t sojourn_ns = 0;  ///< sum over its packets
};

/// One bin of a queue's time series.
struct QueueBin {
  PerClass<std::uint64_t> bytes{};          ///< frame bytes, counted at departure
  std::uint64_t busy_ns = 0;                ///< time that the transmitter was occupied
  std::uint32_t max_packets = 0;            ///< largest occupancy
  std::uint32_t min_threshold_packets = 0;  ///< lowest effective threshold for background
  /// Sum over the packets that left. Divided by the bin's width it is the mean occupancy, by
  /// Little's law.
  std::uint64_t sojourn_ns = 0;
};

/// The report of one egress queue: its counters, and the records of its bursts.
struct QueueReport : QueueCounts {
  std::string switch_name;
  std::string port_name;
  std::uint32_t queue = 0;        ///< number in the port; signals are counted with queue 0
  Histogram burst_sojourn_ns;     ///< of packets of bursts
  Histogram interval_sojourn_ns;  ///< of all packets while a burst was in progress
  std::vector<QueueBurstRecord> bursts;
  std::vector<RemoteReport> beyond_by_name;  ///< the bottlenecks beyond the port
  std::uint64_t bursts_not_recorded = 0;     ///< beyond max_burst_records
  std::vector<QueueBin> bins;                ///< bin i covers [i, i + 1) x bin_ns
  /// With regulation in force; the first max_burst_records of a recorded port.
  std::vector<TimeSpan> regulated;
  /// While the neighbour had paused it by priority flow control (PFC), and while it had told the
  /// neighbour to pause; the first 4096 of each.
  std::vector<TimeSpan> stopped, stops_neighbour;
};

/// The report of a switch process, or of the switch side of a virtual run.
/// Identities: that of ProcessCounts, and
/// entered at the edges + copied + pause_frames ==
/// left at the edges + dropped + pauses_taken + resident + on_links.
struct SwitchReport : ProcessCounts, SignalCounts, FlowletCounters, RunReport {
  std::vector<QueueReport> queues;
};

}  // namespace outrider::sw
