#pragma once

#include <cstdint>

namespace outrider::tg {

/// The first port of Linux's default net.ipv4.ip_local_port_range.
inline constexpr std::uint16_t kFirstEphemeralPort = 32768;

}  // namespace outrider::tg
