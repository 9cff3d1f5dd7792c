#pragma once

#include <array>
#include <cstddef>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "trafficgen/transport/control/congestion_control.h"

namespace outrider::tg {

/// Checks the settings of congestion control that need no other table.
void check(const Checks& at, const ControllerConfig& control);

inline constexpr auto kControllers = [] {
  std::array<Choice<Controller>, kControllerRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = {kControllerRows[i].name, kControllerRows[i].kind};
  return names;
}();

inline constexpr auto kHyStartKinds = choices<HyStartKind>({{"off", HyStartKind::kOff},
                                                            {"rfc9406", HyStartKind::kRfc9406},
                                                            {"linux", HyStartKind::kLinux}});

inline constexpr auto kIdleRestarts =
    choices<IdleRestart>({{"rfc5681", IdleRestart::kRfc5681}, {"linux", IdleRestart::kLinux}});

void describe(Settings& v, ControllerConfig& c);
/// Describes the controller's name alone, for an owner with settings that depend on it.
void describe_kind(Settings& v, ControllerConfig& c);
/// Describes the rest.
void describe_parameters(Settings& v, ControllerConfig& c);

}  // namespace outrider::tg
