#pragma once

#include <string>

#include "switch/config/config.h"
#include "tools/lab/advise/remedy.h"

namespace outrider::lab {

/// Returns what the port's settings are on a switch of another maker: a row for each queue with its
/// traffic, share of the link, room and ECN marks, in bytes of frames; or why only outrider-switch
/// can do it. Pure.
/// @param port  of the measured queue, as the advised arm has it
[[nodiscard]] std::string settings_elsewhere(const sw::SwitchPortConfig& port,
                                             const RemedyNature& nature);

/// Returns what the hosts have to do. Pure.
/// @param lead  from a START to its burst
[[nodiscard]] std::string settings_of_hosts(const sw::SwitchPortConfig& port,
                                            const RemedyNature& nature, Duration lead);

}  // namespace outrider::lab
