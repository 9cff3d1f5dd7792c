#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::lab {

/// The way in which a child process is asked to end.
enum class EndsBy : std::uint8_t {
  kSigterm,
  kEndOfInput,  ///< its standard input is a pipe that is closed
};

/// A running program with both outputs in a log file. The destructor kills it if it
/// still runs. Ctrl-C on the terminal does not reach the program; its owner decides
/// how to react to it.
class ChildProcess {
 public:
  struct Start {
    std::string name;                    ///< for messages
    std::filesystem::path program;       ///< searched in PATH if it has no slash
    std::vector<std::string> arguments;  ///< without the program itself
    std::filesystem::path log;
    std::optional<std::filesystem::path> input{};   ///< standard input
    std::optional<std::filesystem::path> output{};  ///< standard output; absent: the log
    EndsBy ends_by = EndsBy::kSigterm;
  };

  /// @throws EnvironmentError if it cannot be started
  explicit ChildProcess(const Start& start);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Returns the exit status, or 128 + signal; nothing while the program runs.
  std::optional<int> status();
  void terminate();
  /// Waits at most `patience` for the end of the program. @return as status()
  std::optional<int> wait(std::chrono::milliseconds patience);
  /// Asks the program to end, waits at most `patience`, then kills it. @return as status()
  int finish(std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns whether a line of the log has these words.
  [[nodiscard]] bool has_said(std::string_view words) const;
  /// Returns what the log says of the program's end, see last_words.h.
  [[nodiscard]] std::string last_words() const;

 private:
  std::string name_;
  std::filesystem::path log_;
  EndsBy ends_by_;
  int input_ = -1;  ///< our end of the program's standard input
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// Returns the directory of the running program.
std::filesystem::path own_directory();

}  // namespace outrider::lab
