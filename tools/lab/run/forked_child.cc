#include "tools/lab/run/forked_child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/dpdk/eal/error.h"

namespace outrider::lab {

ForkedChild fork_child(const char* what, const std::function<int(int out)>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw DpdkError("pipe", what, errno);
  std::fflush(nullptr);  // otherwise the child would write buffered text a second time
  const pid_t pid = fork();
  if (pid < 0) throw DpdkError("fork", what, errno);
  if (pid == 0) {
    close(ends[0]);
    signal(SIGINT, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int status = work(ends[1]);
    close(ends[1]);
    std::fflush(nullptr);
    _exit(status);
  }
  close(ends[1]);
  return {.pid = pid, .pipe = ends[0]};
}

}  // namespace outrider::lab
