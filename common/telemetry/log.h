#pragma once

#include <cstdint>
#include <string_view>

namespace outrider {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// Names the program in every line and sets the least level that is shown. Optional.
void start_log(std::string_view program, LogLevel least);

/// One line on stderr. Off the packet path only: they format, lock and write.
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);

/// Messages that were shown so far, of any level: who draws on the same terminal asks.
[[nodiscard]] std::uint64_t log_lines() noexcept;

}  // namespace outrider
