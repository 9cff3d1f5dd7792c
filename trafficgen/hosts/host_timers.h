#pragma once

#include <cstddef>
#include <cstdint>

#include "common/runtime/event_loop.h"
#include "trafficgen/hosts/timer_queue.h"

namespace outrider::tg {

/// Holds the timers of a host's applications, and the event source that fires for them and for the
/// host's connections. Not thread-safe: the host owns it.
class HostTimers {
 public:
  /// @param loop,source must outlive this
  HostTimers(EventLoop& loop, EventSource& source) : loop_(loop), id_(loop.add(source)) {}

  /// Sets a timer. A new peak of pending timers allocates.
  void set(TimerClient& client, std::uint32_t tag, Time at) {
    queue_.add({.at = at, .client = &client, .tag = tag});
    note(at);
  }
  /// Schedules the source if the instant is earlier; when the source fires it computes the next
  /// one.
  void note(Time at) noexcept {
    if (at < loop_.scheduled(id_)) loop_.schedule(id_, at);
  }
  /// Wakes the applications whose timers are due.
  void fire_due(Time now) noexcept {
    while (queue_.next() <= now) {
      const TimerQueue::Timer timer = queue_.pop();
      queue_.expect_next();
      timer.client->on_timer(timer.tag, now);
    }
  }
  [[nodiscard]] Time next() const noexcept { return queue_.next(); }

 private:
  static constexpr std::size_t kExpected = 256;

  EventLoop& loop_;
  SourceId id_;
  TimerQueue queue_{kExpected};
};

}  // namespace outrider::tg
