#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/process_checks.h"
#include "common/core/clock.h"
#include "common/core/figure.h"
#include "common/core/traffic_class.h"
#include "common/core/units.h"
#include "common/runtime/live_report.h"
#include "common/telemetry/live_view.h"
#include "common/telemetry/run_report.h"
#include "trafficgen/measure/generator_counts.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/neighbours/neighbour_report.h"

namespace outrider::tg {

/// The counts of a generator so far, as its lcore publishes them while it runs. The names are the
/// report's, and so are the values at the end, except stream_lost.
struct TrafficLive : GeneratorCounts, ByteCounts, JobProgress {
  std::int64_t at_ns = 0;
  std::int64_t longest_poll_gap_ns = 0;
  PerClass<std::uint64_t> delivered_bytes{};  ///< payload in order
  std::uint64_t flows_open = 0;
  std::uint64_t flows_completed = 0;
  std::uint64_t flows_failed = 0;
  std::uint64_t requests = 0;   ///< answered
  std::uint64_t transfers = 0;  ///< ended, with success or not
  NeighbourTotals neighbours{};
  /// Numbers that a later one has passed. Packets still in flight are not among them, nor is a
  /// flow's lost tail, which only the report knows.
  std::uint64_t stream_lost = 0;
  std::uint64_t stream_received = 0;
  StreamEndsReport stream_ends{};
  StreamPauseCounts stream_pauses{};
  /// What hosts and streams have sent by each device [position in the file], at L1. Virtual time
  /// has more devices: there only the first are counted, and nobody reads them.
  std::array<std::uint64_t, kMaxDevices> device_l1_bytes{};

  void add_sent(std::size_t device, std::uint64_t packets, std::uint64_t frame_bytes) noexcept {
    sent += packets;
    sent_bytes += frame_bytes;
    if (device < kMaxDevices) device_l1_bytes[device] += frame_bytes + packets * kL1OverFcsBytes;
  }
};

/// The rows of all but the times and the devices, whose figures are those of RunFigures and
/// LiveDevice.
template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TrafficLive>
void fields(V& v, R& r) {
  fields(v, base_of<GeneratorCounts>(r));
  fields(v, base_of<ByteCounts>(r));
  v.value(counter("delivered_bytes", "bytes", "Payload that receivers have in order"),
          r.delivered_bytes);
  fields(v, base_of<JobProgress>(r));
  v.value(gauge("flows_open", "flows", "Flows of [[flows]] that are open"), r.flows_open);
  v.value(counter("flows_completed", "flows", "Flows of [[flows]] that were completed"),
          r.flows_completed);
  v.value(counter("flows_failed", "flows", "Flows of [[flows]] that failed"), r.flows_failed);
  v.value(counter("requests", "requests", "Requests that were answered"), r.requests);
  v.value(counter("transfers", "transfers", "Transfers that ended, with success or not"),
          r.transfers);
  v.value("neighbours", r.neighbours);
  // A late packet makes a gap good: it may fall.
  v.value(gauge("stream_lost", "packets", "Packets of streams that a later one has overtaken")
              .as("stream_lost_packets"),
          r.stream_lost);
  v.value(counter("stream_received", "packets", "Packets of streams that arrived")
              .as("stream_received_packets"),
          r.stream_received);
  v.value("stream_ends", r.stream_ends);
  v.value("stream_pauses", r.stream_pauses);
}

/// Adds the counts of another lcore; the time is the later one.
void add(TrafficLive& to, const TrafficLive& more);

/// Returns the figures of one line: rates of packets and bytes, and counts that are not zero.
std::vector<LiveFigure> live_figures(const TrafficLive& before, const TrafficLive& now);

/// A device that traffic leaves by.
struct LiveDevice {
  std::string name;
  BitRate line_rate{};  ///< zero: not known
  std::uint64_t sent_l1_bytes = 0;
  bool link_up = false;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LiveDevice>
void fields(V& v, R& r) {
  v.value(
      counter("sent_l1_bytes", "bytes", "Bytes of the line that it used: frames, preambles, gaps"),
      r.sent_l1_bytes);
  v.value(gauge("link_up", "", "1 if the device's link was up at the last check"), r.link_up);
}

/// The counts of a generator with its devices.
struct GeneratorLive {
  TrafficLive counts{};
  RunFigures run{};
  std::vector<LiveDevice> devices{};
};

[[nodiscard]] inline std::int64_t live_at_ns(const GeneratorLive& live) noexcept {
  return live.counts.at_ns;
}
/// Returns the figures of one line, with the use of each device's link.
std::vector<LiveFigure> live_figures(const GeneratorLive& before, const GeneratorLive& now);

using TrafficLiveReport = LiveReport<TrafficLive>;

}  // namespace outrider::tg
