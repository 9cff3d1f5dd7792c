#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace outrider::lab {

/// Keeps other sessions out of a directory of results. The kernel ends the lock with the process
/// and with what it has forked, however they end.
class ResultsLock {
 public:
  /// @param command  what is said to those who come later
  /// @throws EnvironmentError naming the process that holds the directory, or why it cannot be
  /// locked
  ResultsLock(const std::filesystem::path& directory, const std::string& command);
  ~ResultsLock();
  ResultsLock(const ResultsLock&) = delete;
  ResultsLock& operator=(const ResultsLock&) = delete;

 private:
  std::filesystem::path path_;
  pid_t owner_;
  int fd_ = -1;
};

}  // namespace outrider::lab
