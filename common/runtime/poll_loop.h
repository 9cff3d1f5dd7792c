#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "common/core/clock.h"
#include "common/core/poll_gaps.h"
#include "common/dpdk/tsc_clock.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_stop.h"

namespace outrider {

struct PollTimes {
  Duration longest_gap{};  ///< between two polls
  Duration busy{};         ///< in polls that found packets
};

struct PollResult {
  Time end{};  ///< of the last poll
  PollTimes times{};
  PollGaps gaps{};
  bool interrupted = false;
};

/// Up to which instant one poll advances when the clock says `now`. The process
/// was not always running: after a gap, what became due meanwhile is caught up in
/// small steps with a poll between them, because at once it would overrun every
/// ring. A loop that never keeps up lags by 64 times its poll's length.
/// @pre end <= now
[[nodiscard]] constexpr Time advance_to(Time end, Time now) noexcept {
  constexpr Duration kStep = std::chrono::microseconds(20);
  return end + std::min(now - end, std::max(kStep, (now - end) / 64));
}

/// Calls `poll(previous, now)`, which says whether it found packets, again and again in real
/// time until `done()`, a stop signal or the end of `duration`. The TSC is read once a poll:
/// a poll takes until the next one's reading. `seldom(so far)` is called at the first poll
/// and ten times a second.
template <class Poll, class Done, class Seldom>
PollResult run_polls(const TscClock& clock, std::optional<Duration> duration, Poll poll, Done done,
                     Seldom seldom) {
  constexpr Duration kSeldom = std::chrono::milliseconds(100);
  PollResult result{.end = clock.now()};
  Time polled = result.end;
  const Time last = duration ? result.end + *duration : kNever;
  Time next_seldom = result.end;
  bool found = false;
  while (!(result.interrupted = stop_requested()) && result.end < last && !done()) {
    const Time read = clock.now();
    result.times.longest_gap = std::max(result.times.longest_gap, read - polled);
    result.gaps.note(polled, read - polled);
    if (found) result.times.busy += read - polled;
    polled = read;
    const Time now = advance_to(result.end, read);
    found = poll(result.end, now);
    result.end = now;
    if (now >= next_seldom) [[unlikely]] {
      seldom(std::as_const(result));
      next_seldom = now + kSeldom;
    }
  }
  return result;
}

/// Drives `sink` and `loop` from the devices, see run_polls(); before each `seldom` the
/// links are checked. A sink that has begin_poll(now) gets every poll's time before what
/// has arrived.
template <class Sink, class Done, class Seldom>
PollResult run_poll_loop(PollDevices& devices, EventLoop& loop, Sink& sink, const TscClock& clock,
                         std::optional<Duration> duration, Done done, Seldom seldom) {
  const auto poll = [&](Time previous, Time now) {
    if constexpr (requires { sink.begin_poll(now); }) sink.begin_poll(now);
    const bool found = devices.receive(previous, now, loop, sink);
    loop.run_until(now);
    devices.flush();
    return found;
  };
  return run_polls(clock, duration, poll, done, [&](const PollResult& so_far) {
    devices.check_links();
    seldom(so_far);
  });
}

/// Waits until every device has a link. @return false if a signal came first
/// @throws EnvironmentError after `timeout`, naming the devices
bool wait_for_links(PollDevices& devices, Duration timeout);

}  // namespace outrider
