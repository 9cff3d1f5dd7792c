#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace outrider {

/// A program that was started, with both outputs in a log file. Ends with its
/// owner: the destructor kills what still runs. Ctrl-C on the terminal does not
/// reach it; its owner decides what to do with it.
class ChildProcess {
 public:
  /// @throws EnvironmentError if it cannot be started
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const std::filesystem::path& log);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Exit status, or 128 + signal; nothing while it runs.
  std::optional<int> status();
  void terminate();
  /// Asks it to end, waits so long, then kills it. @return as status()
  int finish(std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The end of its log, for messages.
  [[nodiscard]] std::string last_words() const;

 private:
  std::string name_;
  std::filesystem::path log_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// Directory of the program that runs.
std::filesystem::path own_directory();

}  // namespace outrider
