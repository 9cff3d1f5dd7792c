#include "common/telemetry/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <string>

namespace outrider {
namespace {

std::shared_ptr<spdlog::logger> make_logger(std::string_view program,
                                            spdlog::level::level_enum least) {
  auto made = std::make_shared<spdlog::logger>(std::string(program),
                                               std::make_shared<spdlog::sinks::stderr_sink_mt>());
  made->set_pattern("%H:%M:%S.%e %n %l: %v");
  made->set_level(least);
  made->flush_on(spdlog::level::trace);
  return made;
}

std::shared_ptr<spdlog::logger>& logger() {
  // Never destroyed, because DPDK's threads may log after main() has ended.
  static auto& shared = *new auto(make_logger("outrider", spdlog::level::info));
  return shared;
}

std::atomic<std::uint64_t> lines{0};

void write(spdlog::level::level_enum level, std::string_view message) {
  if (logger()->should_log(level)) lines.fetch_add(1, std::memory_order_relaxed);
  logger()->log(level, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace

void start_log(std::string_view program, LogLevel least) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  logger() = make_logger(program, kLevels[static_cast<int>(least)]);
}

void log_debug(std::string_view message) { write(spdlog::level::debug, message); }
void log_info(std::string_view message) { write(spdlog::level::info, message); }
void log_warn(std::string_view message) { write(spdlog::level::warn, message); }
void log_error(std::string_view message) { write(spdlog::level::err, message); }

std::uint64_t log_lines() noexcept { return lines.load(std::memory_order_relaxed); }

}  // namespace outrider
