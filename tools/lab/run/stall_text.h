#pragma once

#include <string>

#include "switch/report/report.h"
#include "trafficgen/report/report.h"

namespace outrider::lab {

/// Says of a run that stood still for `seconds` which side it was, by the counter that did not
/// move or that counts the packets' ends: nothing came to the switch, nothing left it, or nothing
/// came back from it. Pure.
[[nodiscard]] std::string text_of_stall(const tg::GeneratorReport& generator,
                                        const sw::SwitchReport& sw, int seconds);

}  // namespace outrider::lab
