#pragma once

namespace outrider {

/// Makes SIGINT and SIGTERM ask the program to end in good order. A second one says that results
/// are being written; a third one kills it. Makes SIGPIPE have no effect, so that a reader of
/// stdout or stderr that ends does not prevent the report. Process-wide.
void catch_stop_signals();

/// Makes SIGHUP ask the program to read its configuration again. Process-wide.
void catch_reload_signal();
/// Returns whether SIGHUP came since the last call.
[[nodiscard]] bool take_reload_request() noexcept;

[[nodiscard]] bool stop_requested() noexcept;
/// Does what SIGINT does: the program ends in good order. Any thread.
void request_stop() noexcept;

}  // namespace outrider
