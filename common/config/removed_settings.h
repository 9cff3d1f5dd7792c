#pragma once

#include <string_view>

namespace outrider {

/// Returns what holds instead of a setting that earlier versions had, for the message that refuses
/// it: "is gone: ...". Empty if no version had it.
/// @param key  as in issues, such as "switch[0].port[0].regulation.window.release_rtts"
std::string_view removed_setting(std::string_view key);

}  // namespace outrider
