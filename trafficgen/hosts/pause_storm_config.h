#pragma once

#include <cstdint>
#include <optional>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// A fault of a host: its NIC asks the switch without end to pause a priority, as broken NICs do.
struct PauseStormConfig {
  std::optional<Duration> begin{};  ///< after the begin of the run; absent: there is none
  std::optional<Duration> end{};    ///< no frame leaves from then on; absent: the end of the run
  std::uint8_t priority = 3;        ///< that is paused

  [[nodiscard]] bool on() const noexcept { return begin.has_value(); }
};

void describe(Settings& v, PauseStormConfig& c);

/// Checks the rules that join several settings.
void check(const Checks& at, const PauseStormConfig& config);

}  // namespace outrider::tg
