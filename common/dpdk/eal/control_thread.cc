#include "common/dpdk/eal/control_thread.h"

#include <exception>
#include <utility>

#include "common/dpdk/eal/dpdk_releases.h"
#include "common/dpdk/eal/error.h"

namespace outrider {

namespace {

/// A task that a thread does once.
struct Call {
  const std::function<void()>& task;
  std::exception_ptr thrown{};

  static void enter(void* self) {
    auto& call = *static_cast<Call*>(self);
    try {
      call.task();
    } catch (...) {
      call.thrown = std::current_exception();
    }
  }
};

}  // namespace

void on_control_cpus(const std::string& name, const std::function<void()>& task) {
  Call call{task};
  pthread_t thread{};
  const int result = start_control_thread<&Call::enter>(thread, name.c_str(), &call);
  if (result != 0) throw DpdkError("start_control_thread", name, -result);
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

ControlThread::ControlThread(const std::string& name, Duration interval, std::function<void()> task)
    : interval_(interval), task_(std::move(task)) {
  const int result = start_control_thread<&enter>(thread_, name.c_str(), this);
  if (result != 0) throw DpdkError("start_control_thread", name, -result);
}

ControlThread::~ControlThread() {
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  wake_.notify_one();
  pthread_join(thread_, nullptr);
}

void ControlThread::enter(void* self) { static_cast<ControlThread*>(self)->run(); }

void ControlThread::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval_, [this] { return !running_; })) task_();
}

}  // namespace outrider
