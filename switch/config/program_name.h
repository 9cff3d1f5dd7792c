#pragma once

namespace outrider {

inline constexpr const char* kSwitchProgram = "outrider-switch";

}  // namespace outrider
