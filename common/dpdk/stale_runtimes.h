#pragma once

#include <cstddef>
#include <filesystem>

namespace outrider {

/// Removes runtime directories of the EAL that killed programs of this project have left in `base`,
/// so that they do not add up. One is removed only if its name ends with the id of no process, and
/// nobody listens on the telemetry socket in it: a process in a container of its own may have
/// another id here. Those of other programs and users stay. @return their number
std::size_t remove_stale_runtimes(const std::filesystem::path& base) noexcept;

}  // namespace outrider
