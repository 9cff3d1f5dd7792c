#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"

namespace outrider {

/// Something that has a next instant at which it wants to act: a link with
/// packets in flight, an egress port with a backlog, a host with timers.
class EventSource {
 public:
  /// Acts on what is due at `now` and returns when it wants to act next (kNever:
  /// not by itself). It may schedule other sources meanwhile, at or after `now`.
  virtual Time fire(Time now) noexcept = 0;

 protected:
  EventSource() = default;
  EventSource(const EventSource&) = default;
  EventSource& operator=(const EventSource&) = default;
  ~EventSource() = default;
};

using SourceId = std::uint32_t;

/// Drives sources in the order (time, source id): a winner tree with one leaf a
/// source, so an event costs a walk of log2(sources) and simultaneous events
/// never depend on who was scheduled first. The same loop serves virtual time
/// (run to the end) and real time (run up to what the TSC says, every poll).
///
/// Sources are added before the first run; nothing allocates afterwards.
/// Not thread-safe: one lcore owns the loop and all its sources.
class EventLoop {
 public:
  /// @param source must outlive the loop's last run. @return its id, in order of adding
  SourceId add(EventSource& source);

  /// Replaces the instant at which `id` fires; kNever removes it.
  void schedule(SourceId id, Time at) noexcept {
    keys_[id] = at;
    update(id);
  }

  [[nodiscard]] Time scheduled(SourceId id) const noexcept { return keys_[id]; }

  /// Instant of the next event; kNever if there is none.
  [[nodiscard]] Time next() const noexcept { return sources_.empty() ? kNever : keys_[winners_[1]]; }

  /// Fires everything due at or before `end`. @return events fired
  std::uint64_t run_until(Time end) noexcept;

 private:
  void update(SourceId id) noexcept;
  void rebuild();

  std::vector<EventSource*> sources_;
  std::vector<Time> keys_;             ///< [leaves_], kNever where there is no source
  std::vector<std::uint32_t> winners_;  ///< [2 * leaves_], node i has children 2i, 2i+1; leaves at the end
  std::uint32_t leaves_ = 0;           ///< a power of two, >= 2
};

}  // namespace outrider
