#pragma once

#include <cstdint>
#include <string>

namespace outrider::agent {

/// An interface of this host's network namespace.
struct NetworkInterface {
  std::string name;
  int index = 0;
};

/// Throws AgentError, with the interfaces that there are, if there is none of that name.
NetworkInterface interface_named(const std::string& name);

/// Whether any tc filter hangs at the interface's clsact hook, either direction. Throws
/// AgentError if the kernel does not say.
bool has_clsact_filters(const NetworkInterface& interface);

}  // namespace outrider::agent
