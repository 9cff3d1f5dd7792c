#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"

namespace outrider::lab {

/// The clock of the file system that holds a queue. The clocks of the workers' machines differ, so
/// that an instant of this clock is only ever compared with another one of it.
struct SharedClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SharedClock>;
  static constexpr bool is_steady = false;
};
using SharedTime = SharedClock::time_point;

/// A case's file in a queue. The file's name says all of this, so that a rename changes it at once.
struct Ticket {
  std::size_t index = 0;  ///< of the case in the plan
  unsigned taken = 0;     ///< how many workers have taken the case, without those that gave it back
  std::string worker{};   ///< the worker that has it; empty: none

  friend bool operator==(const Ticket&, const Ticket&) = default;
};

/// Returns "00012-taken1", or "00012-taken1@WORKER" if a worker has the case.
std::string file_name(const Ticket& ticket);

/// Returns the ticket with this file name; nothing if no ticket has such a name.
std::optional<Ticket> ticket_from(std::string_view name);

/// The rules by which a case is taken from a worker.
struct LeaseRules {
  Duration lease{};    ///< how long a worker may be silent
  unsigned takes = 3;  ///< a case that so many workers took and did not end is not run again
};

/// Returns how often a worker renews its leases: it may miss two in a row.
constexpr Duration renewal_interval(const LeaseRules& rules) { return rules.lease / 3; }

enum class TicketVerdict : std::uint8_t {
  kHeld,    ///< its worker has shown that it is alive
  kAgain,   ///< another worker may take it
  kFailed,  ///< too many workers have taken it already
};

/// Says what becomes of a case that a worker has taken. Pure.
/// @param renewed  when the worker took it or renewed its lease last
TicketVerdict verdict_of(const Ticket& ticket, SharedTime renewed, SharedTime now,
                         const LeaseRules& rules);

/// Says what becomes of a case that has just failed. Pure.
TicketVerdict verdict_of_failure(const Ticket& ticket, const LeaseRules& rules);

}  // namespace outrider::lab
