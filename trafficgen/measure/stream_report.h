#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
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

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamEndsReport>
void fields(V& v, R& r) {
  const auto packets = [&v](const char* name, const char* help, auto& count) {
    v.value(counter(name, "packets", help), count);
  };
  packets("arrived", "Packets that reached the receivers of streams", r.arrived);
  packets("taken", "Packets of these that belong to a stream", r.taken);
  packets("foreign", "Packets without a stamp", r.foreign);
  packets("truncated", "Packets that are too short", r.truncated);
  packets("bad_checksum", "Packets with a wrong checksum", r.bad_checksum);
  packets("unknown_flow", "Packets of a stream or flow that is not received here", r.unknown_flow);
  packets("wrong_flow", "Packets whose addresses or ports are not their flow's", r.wrong_flow);
  packets("bad_stamp", "Packets whose stamp contradicts itself", r.bad_stamp);
}

/// The counts of a stream's sender. Its lcore publishes them too, see StreamSnapshot.
struct StreamSentCounts {
  std::uint64_t scheduled = 0;  ///< packets that the schedule released == sent + abandoned
  std::uint64_t sent = 0;       ///< packets that the device took
  std::uint64_t sent_frame_bytes = 0;
  std::uint64_t abandoned = 0;     ///< built, but the device has not taken them
  std::uint64_t ring_full = 0;     ///< polls at which the device did not take all
  std::uint64_t buffer_waits = 0;  ///< polls that found too few buffers
  std::uint64_t slips = 0;         ///< times that the schedule was behind by more than max_lag
  std::int64_t slipped_ns = 0;     ///< total by which it was moved then
  std::uint64_t stops = 0;         ///< by an operator, like the next two
  std::uint64_t starts = 0;
  std::uint64_t rate_changes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamSentCounts>
void fields(V& v, R& r) {
  v.value(
      counter("scheduled", "packets", "Packets that the schedule released").as("scheduled_packets"),
      r.scheduled);
  v.value(counter("sent", "packets", "Packets that the device took").as("sent_packets"), r.sent);
  v.value(counter("sent_frame_bytes", "bytes", "Frames that the device took, FCS included"),
          r.sent_frame_bytes);
  v.value(gauge("abandoned", "packets", "Packets that the device has not taken yet")
              .as("abandoned_packets"),
          r.abandoned);
  v.value(counter("ring_full", "polls", "Polls at which the device did not take all")
              .as("ring_full_polls"),
          r.ring_full);
  v.value(counter("buffer_waits", "polls", "Polls that found too few buffers"), r.buffer_waits);
  v.value(counter("slips", "times", "Times that the schedule was moved for its lag"), r.slips);
  v.value(counter("slipped_ns", "ns", "Time by which the schedule was moved for its lag"),
          r.slipped_ns);
  v.value(counter("stops", "times", "Times that an operator stopped the stream"), r.stops);
  v.value(counter("starts", "times", "Times that an operator started the stream"), r.starts);
  v.value(counter("rate_changes", "times", "Times that an operator changed the rate"),
          r.rate_changes);
}

/// The counts of a stream's receiver. Its lcore publishes them too.
struct StreamReceivedCounts {
  std::uint64_t received = 0;  ///< == distinct + duplicated + beyond_window
  std::uint64_t distinct = 0;
  /// Sent - distinct if this process also sends it, else the gaps in the numbers. While the run
  /// goes on it is the gaps in any case: packets in flight are not lost.
  std::uint64_t lost = 0;
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t beyond_window = 0;  ///< too late to know whether they are copies
  std::uint64_t max_reorder_extent = 0;
  std::uint64_t ce_marked = 0;
  std::uint64_t received_frame_bytes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamReceivedCounts>
void fields(V& v, R& r) {
  v.value(
      counter("received", "packets", "Packets of the stream that arrived").as("received_packets"),
      r.received);
  v.value(
      counter("distinct", "packets", "Packets that arrived, without copies").as("distinct_packets"),
      r.distinct);
  // A late packet makes a gap good: it may fall.
  v.value(gauge("lost", "packets", "Packets that a later one of their flow has overtaken")
              .as("lost_packets"),
          r.lost);
  v.value(counter("reordered", "packets", "Packets that came after a later one of their flow")
              .as("reordered_packets"),
          r.reordered);
  v.value(counter("duplicated", "packets", "Packets that had come before").as("duplicated_packets"),
          r.duplicated);
  v.value(counter("beyond_window", "packets", "Packets too late to know whether they are copies")
              .as("beyond_window_packets"),
          r.beyond_window);
  v.value(gauge("max_reorder_extent", "packets", "Largest distance of a packet to the latest one"),
          r.max_reorder_extent);
  v.value(counter("ce_marked", "packets", "Packets that arrived with CE").as("ce_marked_packets"),
          r.ce_marked);
  v.value(counter("received_frame_bytes", "bytes", "Frames that arrived, FCS included"),
          r.received_frame_bytes);
}

/// Counts of the frames of [[pause]].
struct StreamPauseCounts {
  std::uint64_t pause_frames = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StreamPauseCounts>
void fields(V& v, R& r) {
  v.value(counter("pause_frames", "packets", "Pause frames that were sent to neighbours"),
          r.pause_frames);
}

/// What the lcore of a stream publishes of it while it runs.
struct StreamSnapshot {
  enum class Sender : std::uint64_t { kSending, kStopped, kEnded };
  Sender sender = Sender::kSending;
  StreamSentCounts sent{};
  StreamReceivedCounts received{};
};

/// The results of one stream. Rates count at `layer`: l1 includes preamble, gap and FCS (frame + 20
/// bytes), l2 only the FCS.
struct StreamReport : StreamSentCounts, StreamReceivedCounts {
  std::string name;
  std::uint32_t id = 0;
  std::string layer;  ///< "l1" or "l2"
  std::uint32_t flows = 0;

  bool sends = false;
  double requested_packets_per_second = 0;  ///< mean over sizes and bursts, at the last rate
  double requested_bits_per_second = 0;
  double achieved_packets_per_second = 0;  ///< sent / (first to last departure, + its slot)
  double achieved_bits_per_second = 0;
  Histogram lateness_ns;   ///< actual - scheduled departure, by batch
  Histogram gap_error_ns;  ///< |actual - scheduled| gap between packets

  bool receives = false;
  Histogram latency_ns;  ///< departure stamp to arrival, both read by software
  std::uint64_t samples_kept = 0;
  std::uint64_t samples_not_kept = 0;
  HopsReport hops;  ///< empty unless its packets are probes
};

/// All streams of a process.
struct StreamsReport {
  std::vector<StreamReport> streams;
  StreamEndsReport ends;
  Histogram loop_bias_ns;  ///< part of a latency that the loop itself adds
  StreamPauseCounts pauses{};
  std::uint64_t link_down_checks = 0;  ///< checks (10 a second) that found a link down
};

/// Returns true if every identity of the counters holds.
[[nodiscard]] bool balanced(const StreamsReport& report);

/// Returns one line per stream after a header line: figures and percentiles, no buckets.
std::string to_csv(const StreamsReport& report);

/// Returns the lines that the program prints at its end.
std::string to_text(const StreamsReport& report);

}  // namespace outrider::tg
