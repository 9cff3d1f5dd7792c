#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

namespace outrider {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// Sets the program's name in every line, and the lowest level that is shown. Optional.
void start_log(std::string_view program, LogLevel least);

/// Write one line to stderr, unless its reader does not keep up: then the line is lost, and the
/// next one that can be written says how many were. They never wait for the reader. Not for the
/// packet path: they format, lock and write.
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);

/// Keeps the log from the terminal while something is drawn there. A line waits for at most
/// 10 ms: what draws may wait for the terminal's reader.
class LogHold {
 public:
  LogHold();

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Returns the number of messages shown so far, for code that draws on the same terminal.
[[nodiscard]] std::uint64_t log_lines() noexcept;

}  // namespace outrider
