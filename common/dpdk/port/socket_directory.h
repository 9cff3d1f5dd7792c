#pragma once

#include <string>

namespace outrider {

/// Returns the directory of sockets that a device string names without a directory. Another
/// local user can write to none of the candidates: $XDG_RUNTIME_DIR/outrider if that variable
/// names a directory that this process may write to, otherwise /run/outrider for root and
/// /tmp/outrider-UID for anybody else.
[[nodiscard]] std::string socket_directory();

/// Makes a directory that this user alone may use, unless it exists.
/// @throws EnvironmentError if it cannot be made, is a symbolic link or no directory, belongs to
/// another user, or may be written to by others
void make_private_directory(const std::string& path);

/// Returns the device with its socket in `directory` if it names one without a directory, as
/// "net_vhost0,iface=leaf.sock" does; any other device as it is.
[[nodiscard]] std::string with_socket_in(const std::string& directory, const std::string& device);

/// Does so for socket_directory(), which it makes if the device needs it.
/// @throws EnvironmentError as make_private_directory()
[[nodiscard]] std::string with_private_socket(const std::string& device);

}  // namespace outrider
