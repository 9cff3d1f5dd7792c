#pragma once

#include <string>
#include <string_view>

#include "common/machine/finding.h"

namespace outrider {

/// What to print below a failure of DPDK: the findings that its words point to, with
/// effect and remedy, and where to see all. Pure.
/// @param said  the failure's text, DPDK's last lines among it
/// @return lines, each with a leading newline
[[nodiscard]] std::string advice_for(const Findings& findings, std::string_view said);

}  // namespace outrider
