#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace outrider::lab {

/// What a child process is asked to end by.
enum class EndsBy : std::uint8_t {
  kSigterm,
  kEndOfInput,  ///< its standard input is a pipe, which closes
};

/// A program that was started, with both outputs in a log file. Ends with its
/// owner: the destructor kills what still runs. Ctrl-C on the terminal does not
/// reach it; its owner decides what to do with it.
class ChildProcess {
 public:
  struct Start {
    std::string name;                    ///< for messages
    std::filesystem::path program;       ///< without a slash: found by PATH
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

  /// Exit status, or 128 + signal; nothing while it runs.
  std::optional<int> status();
  void terminate();
  /// Waits so long. @return as status()
  std::optional<int> wait(std::chrono::milliseconds patience);
  /// Asks it to end, waits so long, then kills it. @return as status()
  int finish(std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The end of its log, for messages.
  [[nodiscard]] std::string last_words() const;

 private:
  std::string name_;
  std::filesystem::path log_;
  EndsBy ends_by_;
  int input_ = -1;  ///< our end of its standard input
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// Directory of the program that runs.
std::filesystem::path own_directory();

}  // namespace outrider::lab
