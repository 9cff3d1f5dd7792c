#pragma once

#include <cstdint>
#include <string>

#include "common/config/config_result.h"

namespace outrider {

/// Reads a whole file. A file that cannot be read (missing, a directory, no permission, larger
/// than `limit_mib`) gives one issue without a key. The limit ends the reading of a device such
/// as /dev/zero, too. @param limit_mib  [MiB], > 0
ConfigResult<std::string> read_text_file(const std::string& path, std::uint32_t limit_mib);

}  // namespace outrider
