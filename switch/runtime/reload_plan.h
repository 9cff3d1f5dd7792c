#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// One setting that differs, by the key of the resolved configuration.
struct SettingChange {
  std::string key;
  std::string before;  ///< as TOML; "absent" if there was none
  std::string after;
  bool operator==(const SettingChange&) const = default;
};

/// What reloading would do, or everything that speaks against it: never both.
struct ReloadPlan {
  std::vector<SettingChange> changes;
  ConfigIssues refused;
};

/// Compares a running configuration with a wanted one. Pure.
/// @pre both are valid. @param mbufs  packet buffers that the process has
ReloadPlan plan_reload(const SwitchProcessConfig& running, const SwitchProcessConfig& wanted,
                       std::uint32_t mbufs);

/// Every setting that differs, whether or not it may.
std::vector<SettingChange> changes_between(const SwitchProcessConfig& running,
                                           const SwitchProcessConfig& wanted);

/// Why the setting cannot change while packets are forwarded; empty: it can.
/// @param key  with or without indices: "switch[0].port[1].delay", "switch.port.delay"
std::string_view why_fixed(std::string_view key);

}  // namespace outrider::sw
