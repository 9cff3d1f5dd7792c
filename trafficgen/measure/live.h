#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/process_checks.h"
#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/figure.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
#include "common/core/units.h"
#include "common/runtime/live_report.h"
#include "common/telemetry/live_view.h"

namespace outrider::tg {

/// The counts of a generator so far, as its lcore publishes them while it runs. The names are the
/// report's, and so are the values at the end, except stream_lost.
struct TrafficLive {
  std::int64_t at_ns = 0;
  std::uint64_t sent = 0;        ///< packets
  std::uint64_t sent_bytes = 0;  ///< frames, FCS included
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
  PerReason<DropReason> drops{};
  PerClass<std::uint64_t> delivered_bytes{};  ///< payload in order, by TCP
  std::uint64_t retransmitted = 0;            ///< segments of all connections
  std::uint64_t bursts = 0;                   ///< delivered
  std::uint64_t iterations = 0;               ///< ended, over all workers
  std::uint64_t flows_open = 0;
  std::uint64_t flows_completed = 0;
  std::uint64_t flows_failed = 0;
  std::uint64_t requests = 0;   ///< answered
  std::uint64_t transfers = 0;  ///< ended, with success or not
  /// Numbers that a later one has passed. Packets still in flight are not among them, nor is a
  /// flow's lost tail, which only the report knows.
  std::uint64_t stream_lost = 0;
  std::uint64_t stream_received = 0;
  /// What hosts and streams have sent by each device [position in the file], at L1. Virtual time
  /// has more devices: there only the first are counted, and nobody reads them.
  std::array<std::uint64_t, kMaxDevices> device_l1_bytes{};

  void add_sent(std::size_t device, std::uint64_t packets, std::uint64_t frame_bytes) noexcept {
    sent += packets;
    sent_bytes += frame_bytes;
    if (device < kMaxDevices) device_l1_bytes[device] += frame_bytes + packets * kL1OverFcsBytes;
  }
};

/// The rows of all but the time, which is the report's end_ns, and the devices.
template <class V, class R>
requires std::same_as<std::remove_const_t<R>, TrafficLive>
void fields(V& v, R& r) {
  v.value(counter("sent", "packets", "Packets of hosts and streams that left").as("sent_packets"),
          r.sent);
  v.value(counter("sent_bytes", "bytes", "Frames that left, FCS included"), r.sent_bytes);
  v.value(counter("received", "packets", "Packets that arrived").as("received_packets"),
          r.received);
  v.value(counter("received_bytes", "bytes", "Frames that arrived, FCS included"),
          r.received_bytes);
  v.value(counter("drops", "packets", "Packets that were dropped"), r.drops);
  v.value(counter("delivered_bytes", "bytes", "Payload that TCP delivered in order"),
          r.delivered_bytes);
  v.value(counter("retransmitted", "segments", "Segments that were sent again")
              .as("retransmitted_segments"),
          r.retransmitted);
  v.value(counter("bursts", "bursts", "Bursts of jobs that were delivered"), r.bursts);
  v.value(counter("iterations", "iterations", "Iterations that ended, over all workers"),
          r.iterations);
  v.value(gauge("flows_open", "flows", "Flows of [[flows]] that are open"), r.flows_open);
  v.value(counter("flows_completed", "flows", "Flows of [[flows]] that were completed"),
          r.flows_completed);
  v.value(counter("flows_failed", "flows", "Flows of [[flows]] that failed"), r.flows_failed);
  v.value(counter("requests", "requests", "Requests that were answered"), r.requests);
  v.value(counter("transfers", "transfers", "Transfers that ended, with success or not"),
          r.transfers);
  // A late packet makes a gap good: it may fall.
  v.value(gauge("stream_lost", "packets", "Packets of streams that a later one has overtaken")
              .as("stream_lost_packets"),
          r.stream_lost);
  v.value(counter("stream_received", "packets", "Packets of streams that arrived")
              .as("stream_received_packets"),
          r.stream_received);
}

/// Adds the counts of another lcore; the time is the later one.
void add(TrafficLive& to, const TrafficLive& more);

/// Returns the figures of one line: rates of packets and bytes, and counts that are not zero.
std::vector<LiveFigure> live_figures(const TrafficLive& before, const TrafficLive& now);

/// A device that traffic leaves by.
struct LiveDevice {
  std::string name;
  BitRate line_rate{};  ///< zero: not known
};

/// The counts of a generator with its devices.
struct GeneratorLive {
  TrafficLive counts{};
  std::vector<LiveDevice> devices{};
};

[[nodiscard]] inline std::int64_t live_at_ns(const GeneratorLive& live) noexcept {
  return live.counts.at_ns;
}
/// Returns the figures of one line, with the use of each device's link.
std::vector<LiveFigure> live_figures(const GeneratorLive& before, const GeneratorLive& now);

using TrafficLiveReport = LiveReport<TrafficLive>;

}  // namespace outrider::tg
