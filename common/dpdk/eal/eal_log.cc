#include "common/dpdk/eal/eal_log.h"

#include <fcntl.h>
#include <rte_log.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace outrider {
namespace {

constexpr std::size_t kLinesKept = 12;

/// Locked, because DPDK's control threads log too.
struct DpdkLog {
  std::mutex mutex;
  std::deque<std::string> lines;
  std::string partial;
  LineSink sink;

  void take(std::string_view text) {
    const std::lock_guard lock(mutex);
    partial += text;
    std::size_t begin = 0;
    for (std::size_t end; (end = partial.find('\n', begin)) != std::string::npos; begin = end + 1)
      take_line(partial.substr(begin, end - begin));
    partial.erase(0, begin);
  }

  void take_line(std::string line) {
    if (line.empty()) return;
    if (sink) sink(line);
    lines.push_back(std::move(line));
    if (lines.size() > kLinesKept) lines.pop_front();
  }
};

DpdkLog& dpdk_log() {
  static auto* shared = new DpdkLog;  // never destroyed: DPDK's threads may outlive main()
  return *shared;
}

ssize_t write_cookie(void*, const char* text, std::size_t n) {
  dpdk_log().take({text, n});
  return static_cast<ssize_t>(n);
}

}  // namespace

void capture_dpdk_log(LineSink sink) {
  {
    const std::lock_guard lock(dpdk_log().mutex);
    dpdk_log().sink = std::move(sink);
  }
  FILE* stream = fopencookie(nullptr, "w", {nullptr, write_cookie, nullptr, nullptr});
  if (stream == nullptr) return;
  setvbuf(stream, nullptr, _IOLBF, 0);
  rte_openlog_stream(stream);
}

std::string last_dpdk_lines() {
  DpdkLog& log = dpdk_log();
  const std::lock_guard lock(log.mutex);
  std::string text;
  for (const auto& line : log.lines) text += "\n    " + line;
  return text;
}

OutputCapture::OutputCapture() {
  std::fflush(nullptr);
  errors_ = memfd_create("outrider-stderr", MFD_CLOEXEC);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  saved_[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  saved_[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (nowhere >= 0 && saved_[0] >= 0) dup2(nowhere, STDOUT_FILENO);
  if (errors_ >= 0 && saved_[1] >= 0) dup2(errors_, STDERR_FILENO);
  if (nowhere >= 0) close(nowhere);
}

OutputCapture::~OutputCapture() { finish(); }

std::string OutputCapture::finish() {
  std::fflush(nullptr);
  for (int fd = 0; fd < 2; ++fd) {
    if (saved_[fd] < 0) continue;
    dup2(saved_[fd], fd == 0 ? STDOUT_FILENO : STDERR_FILENO);
    close(saved_[fd]);
    saved_[fd] = -1;
  }
  std::string text;
  if (errors_ < 0) return text;
  char chunk[4096];
  lseek(errors_, 0, SEEK_SET);
  for (ssize_t n; (n = read(errors_, chunk, sizeof(chunk))) > 0;)
    text.append(chunk, static_cast<std::size_t>(n));
  close(errors_);
  errors_ = -1;
  return text;
}

}  // namespace outrider
