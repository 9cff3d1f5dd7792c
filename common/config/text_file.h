#pragma once

#include <cstdint>
#include <string>

#include "common/config/config_result.h"

namespace outrider {

/// Reads a whole file. A file that cannot be read (missing, no permission, larger than
/// `limit_mib`) gives one issue without a key. So does all that is no regular file: a reload would
/// wait for the writer of a FIFO, and a device such as /dev/zero has no end.
/// @param limit_mib  [MiB], > 0
ConfigResult<std::string> read_text_file(const std::string& path, std::uint32_t limit_mib);

/// Returns why a file cannot be read or is no regular one, for readers that open it themselves;
/// empty: nothing is in the way. It never waits.
std::string fault_of_file(const std::string& path);

}  // namespace outrider
