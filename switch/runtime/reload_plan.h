#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"
#include "switch/config/config.h"

namespace outrider::sw {

/// One setting that differs, identified by its key in the resolved configuration.
struct SettingChange {
  std::string key;
  std::string before;  ///< as TOML; "absent" if there was none
  std::string after;
  bool operator==(const SettingChange&) const = default;
};

/// Either the changes that a reload would make, or all reasons to refuse it, never both.
struct ReloadPlan {
  std::vector<SettingChange> changes;
  ConfigIssues refused;
};

/// Compares a running configuration with a wanted one. Pure.
/// @pre both are valid. @param mbufs  number of packet buffers of the process
ReloadPlan plan_reload(const SwitchProcessConfig& running, const SwitchProcessConfig& wanted,
                       std::uint32_t mbufs);

/// Returns every setting that differs, whether or not a reload may change it.
std::vector<SettingChange> changes_between(const SwitchProcessConfig& running,
                                           const SwitchProcessConfig& wanted);

/// Returns why the setting cannot change while packets are forwarded; empty if it can.
/// @param key  with or without indices: "switch[0].port[1].delay", "switch.port.delay"
std::string_view why_fixed(std::string_view key);

}  // namespace outrider::sw
