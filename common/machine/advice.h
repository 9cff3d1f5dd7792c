#pragma once

#include <string>
#include <string_view>

#include "common/machine/finding.h"

namespace outrider {

/// Returns advice to print below a failure of DPDK: the findings that the failure's words point
/// to, with effect and remedy, and where to see all findings. Pure.
/// @param said  the failure's text, including DPDK's last lines
/// @return lines, each with a leading newline
[[nodiscard]] std::string advice_for(const Findings& findings, std::string_view said);

/// Returns what is wrong with a network device, by the findings: cause, effect and remedy on lines
/// of their own; empty if nothing is known to be. Pure.
/// @param address  PCI address with domain
[[nodiscard]] std::string device_advice(const Findings& findings, std::string_view address);

}  // namespace outrider
