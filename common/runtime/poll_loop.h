#pragma once

#include <algorithm>
#include <optional>

#include "common/core/clock.h"
#include "common/dpdk/tsc_clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_stop.h"

namespace outrider {

struct PollResult {
  Time end{};              ///< of the last poll
  Duration longest_gap{};  ///< between two polls
  bool interrupted = false;
};

/// Drives `sink` and `loop` from the devices in real time until `done()`, a
/// stop signal or the end of `duration`. The TSC is read once a poll. A sink that
/// has begin_poll(now) gets every poll's time before what has arrived.
template <class Sink, class Done>
PollResult run_poll_loop(PollDevices& devices, EventLoop& loop, Sink& sink, const TscClock& clock,
                         std::optional<Duration> duration, Done done) {
  constexpr Duration kLinkCheck = std::chrono::milliseconds(100);
  PollResult result{.end = clock.now()};
  const Time last = duration ? result.end + *duration : kNever;
  Time link_check = result.end;
  while (!(result.interrupted = stop_requested()) && result.end < last && !done()) {
    const Time now = clock.now();
    result.longest_gap = std::max(result.longest_gap, now - result.end);
    if constexpr (requires { sink.begin_poll(now); }) sink.begin_poll(now);
    devices.receive(result.end, now, loop, sink);
    loop.run_until(now);
    devices.flush();
    result.end = now;
    if (now >= link_check) [[unlikely]] {
      devices.check_links();
      link_check = now + kLinkCheck;
    }
  }
  return result;
}

/// Waits until every device has a link. @return false if a signal came first
/// @throws EnvironmentError after `timeout`, naming the devices
bool wait_for_links(PollDevices& devices, Duration timeout);

}  // namespace outrider
