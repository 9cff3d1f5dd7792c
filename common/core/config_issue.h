#pragma once

#include <string>
#include <vector>

namespace outrider {

/// One error of a configuration, in the user's own terms.
struct ConfigIssue {
  std::string key;      ///< the user's key with its path, e.g. "switch[0].queue.limit_packets"
  std::string problem;  ///< the value and the rule that it breaks
};

using ConfigIssues = std::vector<ConfigIssue>;

}  // namespace outrider
