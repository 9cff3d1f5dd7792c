#pragma once

#include <sys/types.h>

#include <functional>

namespace outrider::lab {

/// A process of this program that sends messages to its parent. The parent closes the pipe and
/// waits for the process.
struct ForkedChild {
  pid_t pid = -1;
  int pipe = -1;  ///< read end
};

/// Forks a process that calls `work` with the write end of its pipe and ends with the status that
/// this returns. A terminal sends Ctrl-C to every process, so the child ignores it: the parent
/// tells it to stop. It ends when the parent ends.
///
/// @param what  for messages: "worker". @param work  must not throw
/// @throws DpdkError naming what failed
ForkedChild fork_child(const char* what, const std::function<int(int out)>& work);

}  // namespace outrider::lab
