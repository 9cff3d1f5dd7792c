#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/core/clock.h"
#include "switch/config/signal_config.h"
#include "switch/report/counts.h"
#include "tests/support/adversary/seen_frame.h"

namespace outrider {

/// Judges whom a switch believes.
///
/// - A START that nothing but its address speaks for reaches no regulator, where the configuration
///   asks for more: a port, or a tag. So nothing forged is ever armed.
/// - A START of an honest worker passes every rule but the rates, whatever strangers send.
class TrustOracle {
 public:
  explicit TrustOracle(sw::SignalConfig signals) : signals_(std::move(signals)) {}

  /// The switch reads its key again: nothing from before is new.
  void read_again(Time now) { read_at_ = now; }
  /// Returns whether a stranger's START may be believed.
  [[nodiscard]] bool believes_stranger(const SeenFrame& start) const;
  /// Returns whether nobody else can spend what a worker is charged for.
  [[nodiscard]] bool protects_workers() const;
  /// Judges a stranger's START that must not be believed.
  [[nodiscard]] std::optional<std::string> judge_forged(const RegulatorCounters& before,
                                                        const RegulatorCounters& after) const;
  /// Judges a worker's START.
  [[nodiscard]] std::optional<std::string> judge_honest(const SeenFrame& start,
                                                        const sw::SignalCounts& before,
                                                        const sw::SignalCounts& after);

 private:
  sw::SignalConfig signals_;
  Time read_at_ = Time::min();
  std::set<std::pair<std::uint32_t, std::uint64_t>> heard_;  ///< sources and counters
};

}  // namespace outrider
