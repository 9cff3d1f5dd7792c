#pragma once

namespace outrider::tg {

inline constexpr const char* kProgram = "outrider-trafficgen";

}  // namespace outrider::tg
