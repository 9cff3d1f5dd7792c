#pragma once

#include <cstdint>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/core/random.h"

namespace outrider::tg {

/// [job.announce.faults]: what goes wrong with the STARTs of a job, on purpose. Shares are of
/// announcements: those of one worker in one iteration, to all its servers.
struct SignalFaultsConfig {
  double lost = 0;           ///< share that never leave the worker
  double late = 0;           ///< share that leave `late_by` too late
  Duration late_by{};        ///< > 0 with `late`
  double early = 0;          ///< share that leave `early_by` too early; lead_source "overlap"
  Duration early_by{};       ///< > 0 with `early`
  double duplicated = 0;     ///< share that leave `copies` times more
  std::uint32_t copies = 1;  ///< 1 to 100
  Duration copy_gap{};       ///< START to its first copy, and from copy to copy
  /// STARTs of bursts that never come: of each worker, to its servers in turn, Poisson. Each
  /// names a connection that does not exist.
  double forged_per_second = 0;
};

/// What happens to one announcement. Lost ones are neither shifted nor copied.
struct SignalFault {
  bool lost = false;
  Duration shift{};  ///< > 0: leaves so much later than it should, < 0: earlier
  std::uint32_t copies = 0;
  bool operator==(const SignalFault&) const = default;
};

/// Decides which announcements fail, and how.
///
/// Pure: every draw is keyed by (seed, job, worker, iteration or number, purpose), so that the
/// arms of a comparison share them, and nested: what fails at a rate fails at each higher one.
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

  [[nodiscard]] bool forges() const noexcept { return config_.forged_per_second > 0; }
  /// From the n-th forged START of a worker, or the job's begin, to the next. @pre forges()
  [[nodiscard]] Duration forged_gap(std::uint32_t worker, std::uint64_t n) const noexcept;

  [[nodiscard]] Duration copy_gap() const noexcept { return config_.copy_gap; }

 private:
  [[nodiscard]] RandomStream stream(std::uint32_t worker, std::uint64_t n,
                                    RandomPurpose purpose) const noexcept;

  SignalFaultsConfig config_;
  Setup setup_;
};

/// @param announces  the job sends STARTs
/// @param ahead      it sends them before the gradients are due
void check(const Checks& at, const SignalFaultsConfig& faults, bool announces, bool ahead);

void describe(Settings& v, SignalFaultsConfig& c);

}  // namespace outrider::tg
