#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/config_issue.h"

namespace outrider {

/// Either a configuration or all its errors, never both.
template <class T>
struct ConfigResult {
  std::optional<T> config{};
  ConfigIssues issues{};  ///< an issue without a key concerns the file as a whole

  explicit operator bool() const noexcept { return config.has_value(); }
};

/// Returns the text for the user, ending with a newline; empty if there are no issues:
///
///     conf/switch.toml: 2 invalid settings
///       switch[0].queue.limit_packets: 0 packets: must be at least 1
///       lcore: "one": must be an integer
std::string format_issues(std::string_view file, const ConfigIssues& issues);

/// Returns one line for each: "conf/switch.toml: warning: switch[0].regulation.recovery: ...".
std::string format_advice(std::string_view file, const ConfigIssues& advice);

}  // namespace outrider
