#pragma once

#include "common/core/clock.h"

namespace outrider::agent {

/// Turns SIGINT and SIGTERM into a file descriptor that becomes readable, so that a waiting
/// agent stops at a well-defined point. Throws AgentError.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Waits for a signal, for `time` at most. @return whether one came
  [[nodiscard]] bool wait_for(Duration time) const noexcept;

 private:
  int fd_;
};

}  // namespace outrider::agent
