#include "common/runtime/another_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "common/dpdk/port/fanout_group.h"
#include "common/telemetry/log.h"

namespace outrider {
namespace {

/// Ends this process as another one has ended.
[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  constexpr int kKilled = 128;  // as shells tell it, should the signal not end this process
  const int number = WTERMSIG(status);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  std::signal(number, SIG_DFL);
  std::raise(number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  _exit(kKilled + number);
}

/// @param signals  which are blocked
[[noreturn]] void stand_in_for(pid_t child, const sigset_t& signals) {
  for (;;) {
    siginfo_t info{};
    const int number = sigwaitinfo(&signals, &info);
    if (number < 0) continue;
    if (number == SIGCHLD) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) end_as(status);
    } else if (info.si_code <= 0) {
      kill(child, number);  // a terminal has sent its signal to both
    }
  }
}

/// Returns all signals but those of job control, which stop this process and its child alike.
sigset_t handed_on() {
  sigset_t all;
  sigfillset(&all);
  for (const int number : {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) sigdelset(&all, number);
  return all;
}

}  // namespace

void go_on_in_child() {
  std::fflush(nullptr);  // or both would print it
  const sigset_t signals = handed_on();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t parent = getpid(), child = fork();
  if (child > 0) stand_in_for(child, signals);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0)
    throw std::runtime_error(std::string("no process can be made: ") + std::strerror(errno));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::exit(EXIT_FAILURE);  // it has ended since
}

void leave_taken_fanout_groups(std::span<const std::string> devices) {
  constexpr int kMostProcesses = 16;
  for (int i = 0; i < kMostProcesses; ++i) {
    const auto taken = std::ranges::find_if(devices, fanout_group_is_taken);
    if (taken == devices.end()) return;
    log_info("another interface has the fanout group that " + *taken +
             " would get from this process id; going on in a child process");
    go_on_in_child();
  }
}

}  // namespace outrider
