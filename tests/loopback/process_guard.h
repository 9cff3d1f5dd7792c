#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace outrider {

/// Of failing tests: a passing one never waits so long.
inline constexpr std::chrono::seconds kPatience{50};

/// A directory of its own for sockets, configurations and reports of one test.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// @return the path of the file
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_whole(const std::string& path);

/// A program that runs beside the test, with stdout and stderr in one file. It
/// is killed, by its process id, if it still runs when the guard goes.
class ProcessGuard {
 public:
  /// @param log  file for its output
  ProcessGuard(const std::vector<std::string>& arguments, std::string log);
  ~ProcessGuard();
  ProcessGuard(const ProcessGuard&) = delete;
  ProcessGuard& operator=(const ProcessGuard&) = delete;

  void send(int signal) const;
  void kill_now();  ///< SIGKILL, and waits for the end
  [[nodiscard]] bool running();
  /// Exit status, 128 + signal, or nothing if it still runs after `timeout`.
  std::optional<int> wait(std::chrono::milliseconds timeout);
  /// Waits for `text` in its output. @return whether it came
  bool says(const std::string& text, std::chrono::milliseconds timeout);
  /// The same for text that the pattern finds.
  bool says(const std::regex& pattern, std::chrono::milliseconds timeout);
  [[nodiscard]] std::string output() const { return read_whole(log_); }

 private:
  std::string log_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace outrider
