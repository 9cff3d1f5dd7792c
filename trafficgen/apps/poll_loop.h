#pragma once

#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "trafficgen/apps/host_lane.h"
#include "trafficgen/apps/run_control.h"
#include "trafficgen/apps/run_stall.h"
#include "trafficgen/streams/engine/stream_engine.h"
#include "trafficgen/streams/run/stream_steering.h"

namespace outrider::tg {

struct GeneratorRun {
  GeneratorReport report;
  bool interrupted = false;
  std::optional<RunStall> stall{};  ///< only of a run that has stalled
};

struct RunRules {
  std::optional<Duration> duration{};  ///< none: until Generator::finished(), or a signal
  std::optional<Duration> stall{};     ///< ends a run that stalls for so long, see StallWatch
  RunControl::Setup control{};
};

/// Starts the schedule and runs it in real time, each lane on an lcore of its own, until all jobs
/// have ended (if there are any and no `duration` is given), `duration` is over, or a signal comes.
/// @pre all links are up; the EAL has an lcore for each lane, of which the caller's is the main one
/// @param streams  sent and received by the first lane, which must own their devices; nullptr:
///   none. Packets with their stamp do not reach the hosts
/// @param steering  of these streams
GeneratorRun run_generator(const HostLanes& lanes, PollDevices& devices, const RunRules& rules,
                           StreamEngine* streams, StreamSteering& steering);

}  // namespace outrider::tg
