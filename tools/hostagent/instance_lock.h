#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// Ensures that a user runs only one agent of a kind on an interface at a time. The lock is one of
/// a file that only this user can open, so that nobody else can keep an agent from starting. The
/// kernel releases it however the process ends; the empty file stays. Every network namespace has
/// its own locks. Throws AgentError if another agent holds the lock.
class InstanceLock {
 public:
  /// @param kind  of agent, such as "announce"
  InstanceLock(const std::string& kind, const NetworkInterface& interface);
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace outrider::agent
