#pragma once

namespace outrider::agent {

/// SIGINT and SIGTERM as a file descriptor that becomes readable, so that an agent that
/// waits is stopped at a point of its own. Throws AgentError.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace outrider::agent
