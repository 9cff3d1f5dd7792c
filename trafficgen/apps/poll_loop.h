#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/streams/engine/stream_engine.h"

namespace outrider::tg {

/// Connects every host to the device of its name by a wire without delay (the switch emulates
/// delays). @return the wires; they must outlive the last event
std::vector<std::unique_ptr<Link>> connect_devices(Generator& generator, EventLoop& loop,
                                                   PollDevices& devices);

struct GeneratorRun {
  GeneratorReport report;
  bool interrupted = false;
  /// Packets sent since the last one came; only of a run that has stalled, see StallWatch.
  std::optional<std::uint64_t> unanswered{};
};

/// Starts the schedule and runs it in real time until all jobs have ended (if there are any and no
/// `duration` is given), `duration` is over, or a signal comes.
/// @pre connected, all links up
/// @param streams  sent and received in the same loop; nullptr: none. Packets with their stamp do
///   not reach the hosts
/// @param live  is given the counts ten times a second; nullptr: none
/// @param stall  ends a run that stalls for so long, see StallWatch; none: it goes on
GeneratorRun run_generator(Generator& generator, EventLoop& loop, PollDevices& devices,
                           std::optional<Duration> duration, StreamEngine* streams = nullptr,
                           TrafficLiveReport* live = nullptr,
                           std::optional<Duration> stall = std::nullopt);

}  // namespace outrider::tg
