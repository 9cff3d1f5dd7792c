#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

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

/// Runs the streams in real time until all have ended, `duration` is over (for those that only
/// receive), or a signal comes. It then continues to receive for `drain`, so that packets in flight
/// do not count as lost. The TSC is read once per poll, and again when a poll has received
/// something. For files with streams only: there is no host and no event loop.
/// @param own      devices of the engine's streams; no other lcore uses them
/// @param publish  is given the counts ten times a second and at the end
StreamRun run_streams(StreamEngine& engine, PollDevices& devices,
                      std::span<const std::uint32_t> own, std::optional<Duration> duration,
                      Duration drain, const std::function<void(const TrafficLive&)>& publish);
/// The same for an engine that has all streams. @param live nullptr: nobody wants the counts
StreamRun run_streams(StreamEngine& engine, PollDevices& devices, std::optional<Duration> duration,
                      Duration drain, TrafficLiveReport* live = nullptr);

/// Returns the frequency of the counter in the stamps.
[[nodiscard]] std::uint64_t stamp_ticks_per_second() noexcept;

/// Measures the latency [ns] of packets that pass sender and receiver with nothing in between: the
/// loop adds this to every measured latency. Takes about 10 ms.
/// @param pool as of StreamEngine
Histogram measure_loop_bias(rte_mempool& pool);

}  // namespace outrider::tg
