#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "switch/regulation/policy/regulation_policy.h"
#include "switch/report/counts.h"

namespace outrider {

/// Judges the grants of one queue from outside, by its counters.
///
/// - Every announced burst and every held answer has one end, or is still there.
/// - No answer waits longer than `max_wait` from the instant at which it could be granted.
/// - Neither bursts nor answers exceed the table.
/// - Nothing that must not be believed enters the table.
/// - When all was silent for long enough, nothing is left.
class GrantOracle {
 public:
  /// @param due_limit  no burst is due later after its START. @pre policy.grant.max_wait is set
  GrantOracle(const RegulationPolicy& policy, Duration due_limit)
      : policy_(policy), due_limit_(due_limit) {}

  [[nodiscard]] bool judges() const { return grants(policy_.grant); }
  /// Returns how long a burst may be known before it is granted; zero without grants.
  [[nodiscard]] Duration longest_wait() const {
    return judges() ? due_limit_ + *policy_.grant.max_wait : Duration::zero();
  }
  /// Returns how long after the last START or payload something may be left.
  [[nodiscard]] Duration longest_stay() const {
    return judges() ? longest_wait() + *policy_.grant.max_wait : Duration::zero();
  }

  /// Returns how many answers have passed that were held.
  [[nodiscard]] static std::uint64_t passed(const sw::QueueCounts& counts) {
    return counts.grant.granted + counts.grant.waited_out + counts.grant.went_ahead;
  }

  [[nodiscard]] std::optional<std::string> judge(const sw::QueueCounts& counts) const;
  /// @param before,after  a START that must not be believed
  [[nodiscard]] static std::optional<std::string> judge_forged(const GrantCounters& before,
                                                               const GrantCounters& after);
  [[nodiscard]] static std::optional<std::string> judge_end(const sw::QueueCounts& counts);

 private:
  RegulationPolicy policy_;
  Duration due_limit_;
};

}  // namespace outrider
