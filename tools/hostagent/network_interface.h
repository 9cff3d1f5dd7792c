#pragma once

#include <cstdint>
#include <string>

namespace outrider::agent {

/// An interface of this host's network namespace.
struct NetworkInterface {
  std::string name;
  int index = 0;
};

/// Returns the interface of that name. Throws AgentError, which lists the interfaces, if there
/// is none.
NetworkInterface interface_named(const std::string& name);

/// Returns whether the interface's clsact hook has any tc filter, in either direction. Throws
/// AgentError if the kernel does not say.
bool has_clsact_filters(const NetworkInterface& interface);

}  // namespace outrider::agent
