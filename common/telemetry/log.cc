#include "common/telemetry/log.h"

#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace outrider {
namespace {

/// Writes all of `text` to stderr, unless it would wait. A pipe that is ready takes PIPE_BUF bytes
/// at once. The descriptor itself stays blocking, because other processes share it.
/// @return whether all was written
bool write_now(std::string_view text) noexcept {
  while (!text.empty()) {
    pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
    const ssize_t n =
        ::write(STDERR_FILENO, text.data(), std::min(text.size(), std::size_t{PIPE_BUF}));
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Loses lines that stderr does not take at once. With a sink that waits, a reader that stalls
/// would stop every thread that logs, and at its end the program before its report is written.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (lost_ != 0) {
      spdlog::details::log_msg note = message;
      const std::string text = std::to_string(lost_) +
                               " lines of this log were lost: the reader "
                               "of stderr did not keep up";
      note.level = spdlog::level::warn;
      note.payload = text;
      if (written(note)) lost_ = 0;
    }
    if (lost_ != 0 || !written(message)) ++lost_;
  }
  void flush_() override {}

 private:
  [[nodiscard]] bool written(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    return write_now({line.data(), line.size()});
  }

  std::uint64_t lost_ = 0;
};

std::shared_ptr<spdlog::logger> make_logger(std::string_view program,
                                            spdlog::level::level_enum least) {
  auto made =
      std::make_shared<spdlog::logger>(std::string(program), std::make_shared<StderrSink>());
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

std::mutex& terminal() {
  static auto& shared = *new std::mutex;  // never destroyed, like the logger
  return shared;
}

void write(spdlog::level::level_enum level, std::string_view message) {
  constexpr int kTries = 10;
  if (!logger()->should_log(level)) return;
  std::unique_lock hold(terminal(), std::try_to_lock);
  for (int i = 0; i < kTries && !hold.owns_lock() && !hold.try_lock(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  lines.fetch_add(1, std::memory_order_relaxed);
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

LogHold::LogHold() : lock_(terminal()) {}

std::uint64_t log_lines() noexcept { return lines.load(std::memory_order_relaxed); }

}  // namespace outrider
