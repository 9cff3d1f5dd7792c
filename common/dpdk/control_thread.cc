#include "common/dpdk/control_thread.h"

#include <rte_lcore.h>

#include <utility>

#include "common/dpdk/error.h"

namespace outrider {

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
