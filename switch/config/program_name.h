#pragma once

namespace outrider::sw {

inline constexpr const char* kSwitchProgram = "outrider-switch";

}  // namespace outrider::sw
