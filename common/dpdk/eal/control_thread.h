#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "common/core/clock.h"

namespace outrider {

/// Calls `task` once in a new thread and waits for its end. The thread runs on the CPUs that
/// the EAL does not poll with, and so do threads that `task` creates.
/// @throws DpdkError, and what `task` throws
void on_control_cpus(const std::string& name, const std::function<void()>& task);

/// Calls `task` once per interval until destroyed, in a thread of its own on the CPUs that the
/// EAL does not poll with. It is for work that a packet path must not do, such as printing
/// or answering requests.
class ControlThread {
 public:
  /// @param name at most 15 characters
  /// @param task called once per interval; must not touch what an lcore owns
  /// @throws DpdkError
  ControlThread(const std::string& name, Duration interval, std::function<void()> task);
  ~ControlThread();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

 private:
  static void enter(void* self);
  void run();

  Duration interval_;
  std::function<void()> task_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool running_ = true;
  pthread_t thread_{};
};

}  // namespace outrider
