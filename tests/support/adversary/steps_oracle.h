#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "switch/egress/port_queue.h"
#include "switch/regulation/policy/regulation_policy.h"

namespace outrider {

/// Judges what the regulator of one queue costs, whatever is announced.
///
/// - A packet that arrives, and one that leaves, costs no more steps than the calls that it makes
///   may take (tests/support/regulator_bound.h).
/// - Neither does a reload, as a control operation.
/// - A regulator that is behind has caught up after a bounded number of packets.
class StepsOracle {
 public:
  /// Begins anew, with a queue that nobody has seen.
  void restart() { steps_ = departed_ = 0; }
  /// Judges what was spent since the last judgement on `arrived` packets, and on those that left.
  [[nodiscard]] std::optional<std::string> judge(const sw::PortQueue& queue,
                                                 const RegulationPolicy& policy,
                                                 std::uint64_t arrived);
  /// Judges a reload. @pre judge() was called just before it
  [[nodiscard]] std::optional<std::string> judge_reload(const sw::PortQueue& queue,
                                                        const RegulationPolicy& before,
                                                        const RegulationPolicy& after);
  /// Returns the number of packets after which nothing that is due is left.
  [[nodiscard]] static std::uint64_t most_packets_behind(const RegulationPolicy& policy);

  /// Returns the most steps that packets cost between two judgements.
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }

 private:
  /// @return the steps since the last call
  std::uint64_t advance(const sw::PortQueue& queue);

  std::uint64_t steps_ = 0;
  std::uint64_t departed_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace outrider
