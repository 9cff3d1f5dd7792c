#pragma once

namespace outrider {

inline constexpr const char* kProgram = "outrider-trafficgen";

}  // namespace outrider
