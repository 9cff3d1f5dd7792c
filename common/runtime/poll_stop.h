#pragma once

namespace outrider {

/// SIGINT and SIGTERM ask the program to end in good order; a second one of
/// either kills it. Process-wide.
void catch_stop_signals();

[[nodiscard]] bool stop_requested() noexcept;

}  // namespace outrider
