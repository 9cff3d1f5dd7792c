#pragma once

#include <string>

#include "common/config/config_result.h"
#include "common/core/signal_key.h"

namespace outrider {

/// Reads a key file. Its only line is
///
///     outrider-signal-key 1 ID SECRET
///
/// with ID from 0 to 255 and the secret in 32 hexadecimal digits; 1 is the format's version. An
/// issue has no key and never shows the file's content. It is an issue, with the command that
/// mends it, if the file belongs to another user than this process runs as, or anybody but the
/// owner may read or write it.
[[nodiscard]] ConfigResult<SignalKey> read_signal_key(const std::string& path);

/// Returns the content of a key file.
[[nodiscard]] std::string signal_key_text(const SignalKey& key);

}  // namespace outrider
