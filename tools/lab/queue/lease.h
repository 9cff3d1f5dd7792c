#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"

namespace outrider::lab {

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
  kAgain,   ///< another worker may take the case
  kFailed,  ///< too many workers have taken it already
};

/// Says what becomes of a case whose worker did not end it. Pure.
TicketVerdict verdict_of(const Ticket& ticket, const LeaseRules& rules);

/// A ticket that a worker has, and its file's time, which the worker renews.
struct HeldTicket {
  Ticket ticket;
  std::int64_t stamp = 0;  ///< [ns], by a clock that is not ours
};

/// Tells which leases have expired. The clocks of the workers' machines and of their file server
/// differ. So a stamp is only compared with the same file's at an earlier look: a worker is silent
/// while it stays the same. A worker that has just begun to look takes a lease longer to see it.
class LeaseWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LeaseWatch(Duration lease) : lease_(lease) {}

  /// Looks at all tickets that workers have. @param now by this machine's clock
  /// @return those whose workers have been silent for longer than a lease
  std::vector<Ticket> look(const std::vector<HeldTicket>& held, Clock::time_point now);

 private:
  struct Seen {
    std::int64_t stamp = 0;
    Clock::time_point since;
  };

  Duration lease_;
  std::map<std::string, Seen, std::less<>> seen_{};  ///< by the ticket's file name
};

}  // namespace outrider::lab
