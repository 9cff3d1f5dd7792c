#pragma once

#include <stdexcept>
#include <string>

namespace outrider::agent {

/// Says why the agent cannot work on this host, and which command or setting helps.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace outrider::agent
