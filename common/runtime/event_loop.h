#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/time_order.h"
#include "common/core/timing_wheel.h"

namespace outrider {

/// Something that wants to act at a known next instant: a link with packets in flight, an
/// egress port with a backlog, a host with timers.
class EventSource {
 public:
  /// Acts on what is due at `now`. Returns when it wants to act next, or kNever if it waits for
  /// others. Meanwhile it may schedule other sources, at or after `now`.
  virtual Time fire(Time now) noexcept = 0;

  /// Says that fire() comes soon, so that what it reads first can be fetched from memory.
  virtual void prepare() const noexcept {}

 protected:
  EventSource() = default;
  EventSource(const EventSource&) = default;
  EventSource& operator=(const EventSource&) = default;
  ~EventSource() = default;
};

using SourceId = std::uint32_t;

/// Drives sources in the order (time, source id), so that the order of simultaneous events
/// does not depend on which was scheduled first. The same loop serves virtual time (run to
/// the end) and real time (every poll runs up to the TSC's time).
///
/// Sources are added before the first run; nothing allocates afterwards.
/// Not thread-safe: one lcore owns the loop and all its sources.
class EventLoop {
 public:
  /// @param source must outlive the loop's last run. @return its id, in order of adding
  SourceId add(EventSource& source) {
    sources_.push_back(&source);
    return wheel_.add();
  }

  /// Sets the instant at which `id` fires next; kNever removes it. @pre at >= Time{}
  void schedule(SourceId id, Time at) noexcept { wheel_.schedule(id, at); }

  [[nodiscard]] Time scheduled(SourceId id) const noexcept { return wheel_.scheduled(id); }

  /// Returns the instant of the next event; kNever if there is none.
  [[nodiscard]] Time next() const noexcept { return wheel_.next(); }

  /// Fires everything that is due at or before `end`. @return events fired
  std::uint64_t run_until(Time end) noexcept;
  /// The same, of at most `most` events. With it a test ends although a source asks for the same
  /// instant for ever, which is a fault of the source.
  std::uint64_t run_until(Time end, std::uint64_t most) noexcept;

 private:
  template <class GoesOn>
  std::uint64_t run_while(Time end, GoesOn goes_on) noexcept;

  static constexpr std::size_t kFetched = 12;  ///< events ahead whose sources are fetched
  static constexpr std::size_t kPrepared = 5;  ///< events ahead that are prepared

  void fetch_ahead() const noexcept;

  // 64 ns are shorter than a full frame at 100 Gbit/s, and 1,024 of them are about a data
  // centre's round trip. So most events go straight to level 0.
  TimingWheel<6, 10> wheel_;
  std::vector<EventSource*> sources_;
  [[no_unique_address]] TimeOrder time_;  ///< of what fires
};

}  // namespace outrider
