#pragma once

#include <cstdint>

namespace outrider {

/// Linux's first port of net.ipv4.ip_local_port_range.
inline constexpr std::uint16_t kFirstEphemeralPort = 32768;

}  // namespace outrider
