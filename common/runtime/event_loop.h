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
    Entry* const tree = tree_.data();
    std::size_t node = leaves_ + id;
    if (tree[node].at == at) return;
    Entry winner{at, id};
    tree[node] = winner;
    while (node > 1) {
      const Entry rival = tree[node ^ 1];
      // A tie goes to the lower id: the left child has it.
      const bool rival_wins = (node & 1) != 0 ? rival.at <= winner.at : rival.at < winner.at;
      if (rival_wins) winner = rival;
      node >>= 1;
      if (tree[node].id == winner.id && tree[node].at == winner.at)
        return;  // nothing above changes
      tree[node] = winner;
    }
  }

  [[nodiscard]] Time scheduled(SourceId id) const noexcept { return tree_[leaves_ + id].at; }

  /// Instant of the next event; kNever if there is none.
  [[nodiscard]] Time next() const noexcept { return tree_[1].at; }

  /// Fires everything due at or before `end`. @return events fired
  std::uint64_t run_until(Time end) noexcept;

 private:
  struct Entry {
    Time at = kNever;
    SourceId id = 0;
  };

  std::vector<EventSource*> sources_;
  std::size_t leaves_ = 2;  ///< a power of two, >= 2
  std::vector<Entry> tree_{
      4};  ///< [2 * leaves_]: node i has children 2i, 2i + 1; leaf n is leaves_ + n
};

}  // namespace outrider
