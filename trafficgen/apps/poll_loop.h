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

/// Joins every host to the device of its name by a wire without delay (delays
/// are the switch's). @return the wires; they must outlive the last event
std::vector<std::unique_ptr<Link>> connect_devices(Generator& generator, EventLoop& loop,
                                                   PollDevices& devices);

struct GeneratorRun {
  GeneratorReport report;
  bool interrupted = false;
};

/// Starts the schedule and drives it in real time until all jobs have ended (if
/// there are any and no `duration` is given), `duration` is over, or a signal.
/// @pre connected, all links up
/// @param streams  sent and received in the same loop; nullptr: none. What is
///        stamped as theirs does not reach the hosts
/// @param live  told ten times a second what has happened; nullptr: nobody
GeneratorRun run_generator(Generator& generator, EventLoop& loop, PollDevices& devices,
                           std::optional<Duration> duration, StreamEngine* streams = nullptr,
                           TrafficLiveReport* live = nullptr);

}  // namespace outrider::tg
