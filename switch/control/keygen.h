#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace outrider::sw {

/// Makes a key and writes it to a new file that only its owner may use, then says on `out` what to
/// do with the file. The secret comes from the kernel and is never shown.
/// @param id  of the key; absent: any
/// @throws UsageError if the file exists or its directory does not, EnvironmentError if it cannot
/// be written; then there is no file
void generate_key_file(const std::string& path, std::optional<std::uint8_t> id, std::ostream& out);

}  // namespace outrider::sw
