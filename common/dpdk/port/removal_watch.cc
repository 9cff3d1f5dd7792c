#include "common/dpdk/port/removal_watch.h"

#include <rte_dev.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace outrider {
namespace {

void note_removal(const char*, rte_dev_event_type type, void* leaving) {
  if (type == RTE_DEV_EVENT_REMOVE)
    static_cast<std::atomic<bool>*>(leaving)->store(true, std::memory_order_relaxed);
}

}  // namespace

RemovalWatch::RemovalWatch(std::string device) : device_(std::move(device)) {
  rte_dev_event_callback_register(device_.c_str(), note_removal, &leaving_);
}

RemovalWatch::~RemovalWatch() {
  while (rte_dev_event_callback_unregister(device_.c_str(), note_removal, &leaving_) == -EAGAIN)
    std::this_thread::yield();  // it is running
}

}  // namespace outrider
