#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// Ensures that only one agent of a kind runs on an interface at a time. The kernel releases
/// the lock however the process ends. Every network namespace has its own locks. Throws
/// AgentError if another agent holds the lock.
class InstanceLock {
 public:
  /// @param kind  of agent, such as "announce"
  InstanceLock(const std::string& kind, const NetworkInterface& interface);
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  int fd_;
};

}  // namespace outrider::agent
