#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace outrider {

/// Removes runtime directories of the EAL that killed programs of this project have left in `base`,
/// so that they do not add up. One is removed only if its name ends with the id of no process, and
/// nobody listens on the telemetry socket in it: a process in a container of its own may have
/// another id here. If it has no such socket, it has to be a minute older than `newest`, so that
/// its process is not about to make one. Those of other programs and users stay. @return their
/// number
std::size_t remove_stale_runtimes(const std::filesystem::path& base,
                                  std::filesystem::file_time_type newest) noexcept;

/// Does the same in the private directories of `temporary` (see private_runtime_template()) that
/// processes without XDG_RUNTIME_DIR have made, and removes those that are empty then.
void remove_stale_private_runtimes(const std::filesystem::path& temporary,
                                   std::filesystem::file_time_type newest) noexcept;

/// Returns the path for mkdtemp() of a private directory for runtime directories.
inline std::string private_runtime_template(const std::filesystem::path& temporary) {
  return temporary / "outrider-runtime-XXXXXX";
}

}  // namespace outrider
