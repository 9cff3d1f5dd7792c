#include "tools/hostagent/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace outrider::agent
