#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/histogram.h"
#include "common/runtime/poll_devices.h"
#include "trafficgen/measure/live.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {

struct StreamRun {
  Duration elapsed{};      ///< of the loop
  Duration longest_gap{};  ///< between two polls
  std::uint64_t polls = 0;
  std::uint64_t link_down = 0;  ///< checks (10 a second) that found a link down
  bool interrupted = false;
};

/// Drives the streams in real time until all have ended, `duration` is over (for
/// those that only receive), or a signal; then goes on receiving for `drain`, so
/// that what is under way does not count as lost. The TSC is read once a poll, and
/// once more when a poll has received something. For files of streams alone: no
/// host, no event loop.
/// @param live  told ten times a second what has happened; nullptr: nobody
StreamRun run_streams(StreamEngine& engine, PollDevices& devices, std::optional<Duration> duration,
                      Duration drain, TrafficLiveReport* live = nullptr);

/// Of the counter in the stamps.
[[nodiscard]] std::uint64_t stamp_ticks_per_second() noexcept;

/// Latency [ns] of packets that pass sender and receiver with nothing in between:
/// what the loop adds to every latency that it measures. Takes some 10 ms.
/// @param pool as of StreamEngine
Histogram measure_loop_bias(rte_mempool& pool);

}  // namespace outrider::tg
