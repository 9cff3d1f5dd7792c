#pragma once

#include <cstdint>
#include <optional>

#include "common/core/clock.h"

namespace outrider {

/// The order in which announced bursts are granted the queue.
enum class GrantOrder : std::uint8_t {
  kOff,       ///< nobody waits: the answer to a START passes at once
  kShortest,  ///< fewest announced bytes first
  kFirst,     ///< in the order of their STARTs
  kShare,     ///< the same bytes to every job that waits (start-time fair queueing)
};

/// The unit that the order ranks: bursts, or jobs.
enum class GrantParts : std::uint8_t {
  kAlone,     ///< every burst by itself
  kTogether,  ///< jobs: the bursts of one follow each other
};

/// Settings of the admission of bursts to one egress queue, see burst_admission.h. Validated before
/// use.
struct GrantPolicy {
  GrantOrder order = GrantOrder::kOff;
  GrantParts parts = GrantParts::kAlone;
  /// Bytes that may be granted and not yet have left, > 0. Absent: the switch takes half of the
  /// queue's limit.
  std::optional<std::uint64_t> budget_bytes{};
  /// The next burst is granted beyond the budget too when what was granted and has not left takes
  /// the link at most this long, >= 0. A round trip keeps the link busy.
  Duration overlap = std::chrono::milliseconds(1);
  /// A granted burst that is silent for this long lets others go on, > 0. Absent: the switch takes
  /// `idle_end` and the time in which a full queue drains.
  std::optional<Duration> idle{};
  /// Longest wait for a grant from the instant at which it could be given, > 0. Absent: see
  /// burst_admission.h.
  std::optional<Duration> max_wait{};
};

constexpr bool grants(const GrantPolicy& p) noexcept { return p.order != GrantOrder::kOff; }

}  // namespace outrider
