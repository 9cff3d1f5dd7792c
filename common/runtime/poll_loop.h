#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/core/clock.h"
#include "common/core/poll_gaps.h"
#include "common/dpdk/eal/tsc_clock.h"
#include "common/runtime/device_lane.h"
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

/// The times that one poll is given.
struct PollInstant {
  Time previous{};          ///< time up to which the poll before advanced
  Time now{};               ///< time up to which this poll advances
  std::uint64_t ticks = 0;  ///< the TSC, as read for this poll
};

struct PollRules {
  std::optional<Duration> duration{};  ///< none: until done or stopped
  /// After a gap the time advances in small steps, see advance_to(). Senders that bound their
  /// own lag use the clock's time as it is.
  bool in_steps = true;
  bool until_stopped = true;  ///< a stop signal ends the loop
};

/// Returns the instant up to which one poll advances when the clock reads `now`. After a gap,
/// in which the process did not run, a loop catches up in small steps with a poll between
/// them: all at once, the events due would overrun every ring. A loop that never keeps up
/// lags by 64 times the length of its poll.
/// @pre end <= now
[[nodiscard]] constexpr Time advance_to(Time end, Time now) noexcept {
  constexpr Duration kStep = std::chrono::microseconds(20);
  return end + std::min(now - end, std::max(kStep, (now - end) / 64));
}

/// Calls `poll(instant)` in real time until `done()` or as the rules say; it returns whether
/// it found packets. The TSC is read once per poll: a poll lasts until the reading of the next
/// one. `seldom(so far)` is called at the first poll and ten times a second.
template <class Poll, class Done, class Seldom>
PollResult run_polls(const TscClock& clock, const PollRules& rules, Poll poll, Done done,
                     Seldom seldom) {
  constexpr Duration kSeldom = std::chrono::milliseconds(100);
  PollResult result{.end = clock.now()};
  Time polled = result.end;
  const Time last = rules.duration ? result.end + *rules.duration : kNever;
  Time next_seldom = result.end;
  bool found = false;
  const auto stopped = [&] { return rules.until_stopped && stop_requested(); };
  while (!(result.interrupted = stopped()) && result.end < last && !done()) {
    const std::uint64_t ticks = rte_rdtsc();
    const Time read = clock.time_of(ticks);
    result.times.longest_gap = std::max(result.times.longest_gap, read - polled);
    result.gaps.note(polled, read - polled);
    if (found) result.times.busy += read - polled;
    polled = read;
    const Time now = rules.in_steps ? advance_to(result.end, read) : read;
    found = poll(PollInstant{result.end, now, ticks});
    result.end = now;
    if (now >= next_seldom) [[unlikely]] {
      seldom(std::as_const(result));
      next_seldom = now + kSeldom;
    }
  }
  return result;
}

/// Drives `sink` and `loop` from an lcore's devices, see run_polls(). Before each `seldom` it
/// checks the links. If the sink has begin_poll(instant), each poll calls it before it hands over
/// arrivals; `loop` has then run up to instant.previous.
template <class Sink, class Done, class Seldom>
PollResult run_poll_loop(DeviceLane& devices, EventLoop& loop, Sink& sink, const TscClock& clock,
                         std::optional<Duration> duration, Done done, Seldom seldom) {
  const auto poll = [&](const PollInstant& at) {
    if constexpr (requires { sink.begin_poll(at); }) sink.begin_poll(at);
    const bool found = devices.receive(at.previous, at.now, loop, sink);
    loop.run_until(at.now);
    devices.flush();
    return found;
  };
  return run_polls(clock, {.duration = duration}, poll, done, [&](const PollResult& so_far) {
    devices.check_links();
    seldom(so_far);
  });
}

/// Waits until every device has a link. @return false if a signal came first
/// @throws EnvironmentError after `timeout`, naming the devices
bool wait_for_links(PollDevices& devices, Duration timeout);

}  // namespace outrider
