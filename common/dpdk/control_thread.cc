#include "common/dpdk/control_thread.h"

#include <rte_lcore.h>

#include <exception>
#include <utility>

#include "common/dpdk/error.h"

namespace outrider {

void on_control_cpus(const std::string& name, const std::function<void()>& task) {
  struct Call {
    const std::function<void()>& task;
    std::exception_ptr thrown;
  } call{task, nullptr};
  const auto enter = [](void* argument) -> void* {
    auto& own = *static_cast<Call*>(argument);
    try {
      own.task();
    } catch (...) {
      own.thrown = std::current_exception();
    }
    return nullptr;
  };
  pthread_t thread{};
  const int result = rte_ctrl_thread_create(&thread, name.c_str(), nullptr, enter, &call);
  if (result != 0) throw DpdkError("rte_ctrl_thread_create", name, -result);
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

ControlThread::ControlThread(const std::string& name, Duration interval, std::function<void()> task)
    : interval_(interval), task_(std::move(task)) {
  const int result = rte_ctrl_thread_create(&thread_, name.c_str(), nullptr, &enter, this);
  if (result != 0) throw DpdkError("rte_ctrl_thread_create", name, -result);
}

ControlThread::~ControlThread() {
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  wake_.notify_one();
  pthread_join(thread_, nullptr);
}

void* ControlThread::enter(void* self) {
  static_cast<ControlThread*>(self)->run();
  return nullptr;
}

void ControlThread::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval_, [this] { return !running_; })) task_();
}

}  // namespace outrider
