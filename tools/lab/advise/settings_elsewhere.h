#pragma once

#include <cstdint>
#include <string>

#include "switch/config/config.h"
#include "tools/lab/advise/remedy.h"
#include "trafficgen/channel/transport_config.h"

namespace outrider::lab {

/// Returns a row for each setting of a port's queues, as a switch of another maker has them, with
/// today's value and the advised one, which has a mark if it differs; sizes are bytes of frames. Or
/// says why only outrider-switch can do it. Pure.
/// @param today, advised  the port of the measured queue, as the arms have it
/// @param frame_bytes  of a full packet, of which thresholds count so many
[[nodiscard]] std::string settings_elsewhere(const sw::SwitchPortConfig& today,
                                             const sw::SwitchPortConfig& advised,
                                             const RemedyNature& nature, std::uint32_t frame_bytes);

/// Does the same for rate control over RoCEv2, in microseconds and Mbit/s. Pure.
[[nodiscard]] std::string settings_of_nics(const tg::RoceConfig& today,
                                           const tg::RoceConfig& advised);

/// Returns what the hosts have to do. Pure.
/// @param lead  from a START to its burst
[[nodiscard]] std::string settings_of_hosts(const sw::SwitchPortConfig& port,
                                            const RemedyNature& nature, Duration lead);

}  // namespace outrider::lab
