#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "common/core/clock.h"

namespace outrider {

/// Calls something once in a thread on the CPUs that the EAL does not poll with, where
/// threads that it makes then run as well, and waits for its end.
/// @throws DpdkError, and what `task` throws
void on_control_cpus(const std::string& name, const std::function<void()>& task);

/// Calls something at an interval from a thread of its own, on the CPUs that the
/// EAL does not poll with, until destroyed. For what a packet path must not do:
/// print, answer questions.
class ControlThread {
 public:
  /// @param name at most 15 characters
  /// @param task called once an interval; it owns nothing of an lcore
  /// @throws DpdkError
  ControlThread(const std::string& name, Duration interval, std::function<void()> task);
  ~ControlThread();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

 private:
  static void* enter(void* self);
  void run();

  Duration interval_;
  std::function<void()> task_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool running_ = true;
  pthread_t thread_{};
};

}  // namespace outrider
