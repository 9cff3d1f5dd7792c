#pragma once

#include <stdexcept>
#include <string>

namespace outrider::agent {

/// Why the agent cannot work on this host, with the command or setting that helps.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace outrider::agent
