#include "tools/hostagent/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

int blocked_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

StopSignals::StopSignals() : fd_(blocked_signals()) {
  if (fd_ < 0) throw AgentError(std::string("cannot wait for signals: ") + std::strerror(errno));
}

StopSignals::~StopSignals() { close(fd_); }

bool StopSignals::wait_for(Duration time) const noexcept {
  const auto wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(time);
  pollfd waiting{fd_, POLLIN, 0};
  const int ready = poll(&waiting, 1, static_cast<int>(wait_ms.count()));
  return ready > 0 || (ready < 0 && errno != EINTR);
}

}  // namespace outrider::agent
