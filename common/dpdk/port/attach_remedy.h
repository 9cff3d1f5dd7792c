#pragma once

#include <string>
#include <string_view>

namespace outrider {

/// Returns what to do about a virtual device that could not be attached, for causes that its
/// driver names badly; empty if the cause is another one.
/// @param said  DPDK's last lines
[[nodiscard]] std::string attach_remedy(std::string_view said);

}  // namespace outrider
