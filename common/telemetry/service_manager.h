#pragma once

#include <string>

namespace outrider {

/// Tells systemd, if it waits for that ($NOTIFY_SOCKET), that this process is ready: `systemctl
/// start` returns then, and fails if the process ended before. @return why that could not be told,
/// otherwise empty. Source: the protocol of sd_notify(3), one datagram, for which libsystemd would
/// be a dependency of every program.
[[nodiscard]] std::string tell_ready();

}  // namespace outrider
