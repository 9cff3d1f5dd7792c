#pragma once

#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/drop_reason.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
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
};

/// Adds the counts of another lcore; the time is the later one.
void add(TrafficLive& to, const TrafficLive& more) noexcept;

/// Returns the figures of one line: rates of packets and bytes, and counts that are not zero.
std::vector<LiveFigure> live_figures(const TrafficLive& before, const TrafficLive& now);

using TrafficLiveReport = LiveReport<TrafficLive>;

}  // namespace outrider::tg
