#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/histogram.h"

namespace outrider::tg {

inline constexpr std::size_t kMaxHopReports = 16;  ///< queues, over all paths of a stream

/// The measurements of probes at one queue of one switch.
struct HopReport {
  std::uint32_t switch_id = 0;
  std::uint32_t port = 0;
  std::uint32_t queue = 0;
  std::uint64_t probes = 0;            ///< probes that recorded this hop
  std::uint32_t max_left_packets = 0;  ///< packets that a probe left behind in the queue
  std::uint32_t max_left_bytes = 0;
  Histogram sojourn_ns;  ///< up to 4.29 s, see hop_trace.h
};

/// The records of a stream's probes. Identity: probes == rest_ns.count() + incomplete.
struct HopsReport {
  std::uint64_t probes = 0;      ///< packets that arrived with a trace
  std::uint64_t incomplete = 0;  ///< of these, with a hop that found no room
  std::uint64_t elsewhere = 0;   ///< records of queues beyond the first kMaxHopReports
  std::vector<HopReport> hops;   ///< in the order of their first records
  /// Latency of a probe minus its sojourns: serialisation and propagation, which are the same for
  /// all probes of a size and a path, and the delay of the machines.
  Histogram rest_ns;
};

/// Counts how packets that reached the receiver ended; arrived == sum of all others.
struct StreamEndsReport {
  std::uint64_t arrived = 0;
  std::uint64_t taken = 0;
  std::uint64_t foreign = 0;
  std::uint64_t truncated = 0;
  std::uint64_t bad_checksum = 0;
  std::uint64_t unknown_flow = 0;
  std::uint64_t wrong_flow = 0;
  std::uint64_t bad_stamp = 0;
};

/// The results of one stream. Rates count at `layer`: l1 includes preamble, gap and FCS (frame + 20
/// bytes), l2 only the FCS.
struct StreamReport {
  std::string name;
  std::uint32_t id = 0;
  std::string layer;  ///< "l1" or "l2"
  std::uint32_t flows = 0;

  bool sends = false;
  double requested_packets_per_second = 0;  ///< mean over sizes and bursts
  double requested_bits_per_second = 0;
  double achieved_packets_per_second = 0;  ///< sent / (first to last departure, + its slot)
  double achieved_bits_per_second = 0;
  std::uint64_t scheduled = 0;  ///< packets that the schedule released == sent + abandoned
  std::uint64_t sent = 0;       ///< packets that the device took
  std::uint64_t sent_frame_bytes = 0;
  std::uint64_t abandoned = 0;     ///< built, but the device never took them
  std::uint64_t ring_full = 0;     ///< polls at which the device did not take all
  std::uint64_t buffer_waits = 0;  ///< polls that found too few buffers
  std::uint64_t slips = 0;         ///< times that the schedule was behind by more than max_lag
  std::int64_t slipped_ns = 0;     ///< total by which it was moved then
  Histogram lateness_ns;           ///< actual - scheduled departure, by batch
  Histogram gap_error_ns;          ///< |actual - scheduled| gap between packets

  bool receives = false;
  std::uint64_t received = 0;  ///< == distinct + duplicated + beyond_window
  std::uint64_t distinct = 0;
  /// Sent - distinct if this process also sends it, else the gaps in the numbers.
  std::uint64_t lost = 0;
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t beyond_window = 0;  ///< too late to know whether they are copies
  std::uint32_t max_reorder_extent = 0;
  std::uint64_t ce_marked = 0;
  std::uint64_t received_frame_bytes = 0;
  Histogram latency_ns;  ///< departure stamp to arrival, both read by software
  std::uint64_t samples_kept = 0;
  std::uint64_t samples_not_kept = 0;
  HopsReport hops;  ///< empty unless its packets are probes
};

/// All streams of a process.
struct StreamsReport {
  std::vector<StreamReport> streams;
  StreamEndsReport ends;
  Histogram loop_bias_ns;              ///< part of a latency that the loop itself adds
  std::uint64_t link_down_checks = 0;  ///< checks (10 a second) that found a link down
};

/// Returns true if every identity of the counters holds.
[[nodiscard]] bool balanced(const StreamsReport& report);

/// Returns one line per stream after a header line: figures and percentiles, no buckets.
std::string to_csv(const StreamsReport& report);

/// Returns the lines that the program prints at its end.
std::string to_text(const StreamsReport& report);

}  // namespace outrider::tg
