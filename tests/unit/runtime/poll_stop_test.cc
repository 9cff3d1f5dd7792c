// Goal: impatience costs no results. Method: a process that raises the signals itself.
#include "common/runtime/poll_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace outrider::poll_stop_test {
namespace {

/// Raises the signal so many times. @return the wait status of the process that did; its exit
/// status is 1 if it was asked to stop
int status_after(int times, int number) {
  const pid_t child = fork();
  if (child == 0) {
    catch_stop_signals();
    close(STDERR_FILENO);
    for (int i = 0; i < times; ++i) raise(number);
    _exit(stop_requested() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(PollStop, OnlyTheThirdSignalKills) {
  for (const int number : {SIGINT, SIGTERM}) {
    EXPECT_EQ(status_after(0, number), W_EXITCODE(0, 0));
    EXPECT_EQ(status_after(1, number), W_EXITCODE(1, 0));
    EXPECT_EQ(status_after(2, number), W_EXITCODE(1, 0)) << "results would be lost";
    EXPECT_EQ(status_after(3, number), W_EXITCODE(0, number)) << "a program that hangs";
  }
}

}  // namespace
}  // namespace outrider::poll_stop_test
