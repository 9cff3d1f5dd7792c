#pragma once

namespace outrider {

/// SIGINT and SIGTERM ask the program to end in good order; a second one of
/// either kills it. Process-wide.
void catch_stop_signals();

/// SIGHUP asks the program to read its configuration again. Process-wide.
void catch_reload_signal();
/// Was it asked since the last call?
[[nodiscard]] bool take_reload_request() noexcept;

[[nodiscard]] bool stop_requested() noexcept;

}  // namespace outrider
