#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// One agent of a kind on an interface at a time. The kernel lets go of it however the
/// process ends, and every network namespace has its own. Throws AgentError if another
/// agent holds it.
class InstanceLock {
 public:
  /// @param kind "announce"
  InstanceLock(const std::string& kind, const NetworkInterface& interface);
  ~InstanceLock();
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;

 private:
  int fd_;
};

}  // namespace outrider::agent
