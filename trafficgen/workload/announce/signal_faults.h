#pragma once

#include <cstdint>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "trafficgen/workload/config/signal_faults_config.h"

namespace outrider::tg {

/// The fault of one announcement. A lost announcement is neither shifted nor copied.
struct SignalFault {
  bool lost = false;
  Duration shift{};  ///< > 0: leaves later by this time, < 0: earlier
  std::uint32_t copies = 0;
  bool operator==(const SignalFault&) const = default;
};

/// Decides which announcements fail, and how.
///
/// Pure: every draw is keyed by (seed, job, worker, iteration or number, purpose), so that the arms
/// of a comparison share draws. Faults are nested: what fails at one rate also fails at every
/// higher rate.
class SignalFaults {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    std::uint16_t job = 0;              ///< entity of the draws
    std::uint32_t first_iteration = 0;  ///< added to iterations before drawing
  };

  /// @pre config is valid
  SignalFaults(const SignalFaultsConfig& config, const Setup& setup) noexcept
      : config_(config), setup_(setup) {}

  [[nodiscard]] SignalFault of(std::uint32_t worker, std::uint32_t iteration) const noexcept;

  /// Returns whether the n-th repeat of a START is lost on its way. @param n  < kMostRepeats
  [[nodiscard]] bool loses_repeat(std::uint32_t worker, std::uint32_t iteration,
                                  std::uint32_t n) const noexcept;

  [[nodiscard]] bool forges() const noexcept { return config_.forged_per_second > 0; }
  /// Returns the time from a worker's n-th forged START (0: the job's begin) to its next one.
  /// @pre forges()
  [[nodiscard]] Duration forged_gap(std::uint32_t worker, std::uint64_t n) const noexcept;

  [[nodiscard]] bool replays() const noexcept { return config_.replayed_per_second > 0; }
  /// Returns the time from a worker's n-th replay (0: the job's begin) to its next one.
  /// @pre replays()
  [[nodiscard]] Duration replayed_gap(std::uint32_t worker, std::uint64_t n) const noexcept;

  [[nodiscard]] Duration copy_gap() const noexcept { return config_.copy_gap; }

 private:
  [[nodiscard]] RandomStream stream(std::uint32_t worker, std::uint64_t n,
                                    RandomPurpose purpose) const noexcept;
  [[nodiscard]] Duration gap(std::uint32_t worker, std::uint64_t n, RandomPurpose purpose,
                             double per_second) const noexcept;

  SignalFaultsConfig config_;
  Setup setup_;
};

}  // namespace outrider::tg
