#pragma once

#include <cstdint>
#include <string>

#include "switch/config/config.h"
#include "tools/lab/advise/remedy.h"
#include "trafficgen/channel/transport_config.h"

namespace outrider::lab {

/// Returns what the port's settings are on a switch of another maker: a row for each queue with its
/// traffic, share of the link, room and ECN marks, in bytes of frames; or why only outrider-switch
/// can do it. Pure.
/// Pauses follow, if a queue is lossless.
/// @param port  of the measured queue, as the advised arm has it
/// @param frame_bytes  of a full packet, of which thresholds count so many
[[nodiscard]] std::string settings_elsewhere(const sw::SwitchPortConfig& port,
                                             const RemedyNature& nature, std::uint32_t frame_bytes);

/// Returns the settings of rate control over RoCEv2, a line each, in microseconds and Mbit/s. Pure.
[[nodiscard]] std::string settings_of_nics(const tg::RoceConfig& roce);

/// Returns what the hosts have to do. Pure.
/// @param lead  from a START to its burst
[[nodiscard]] std::string settings_of_hosts(const sw::SwitchPortConfig& port,
                                            const RemedyNature& nature, Duration lead);

}  // namespace outrider::lab
