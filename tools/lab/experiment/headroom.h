#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "tools/lab/experiment/case.h"

namespace outrider::lab {

inline constexpr std::uint32_t kEthernetBytes = 14;

/// Returns the MTU of the host that has the largest.
std::uint32_t longest_packet_bytes(const Case& c);

/// Returns the delays of the links between switches, one way, by "switch.port" of either end.
std::map<std::string, Duration> trunk_delays(const Case& c);

/// Returns the frame bytes that a link may still bring after the packet with which XOFF is reached:
/// while the port finishes a frame and sends the pause, for two delays of the link, and while the
/// neighbour finishes a frame. See docs/pfc.md.
/// @param frame_bytes  of the largest frame
std::uint64_t headroom_needed_bytes(BitRate rate, Duration delay, std::uint32_t frame_bytes);

/// The time that a device may take to obey a pause, in quanta of 512 bit times.
struct PauseReaction {
  BitRate rate{};  ///< for which IEEE 802.3 has the quanta
  std::uint32_t quanta = 0;
};

/// Returns the reaction at a rate. For a rate that the standard does not have, it is that of the
/// next higher one, or of the highest. Source: IEEE 802.3, 31B.3.7, as in sonic-net/sonic-swss,
/// cfgmgr/buffer_headroom_mellanox.lua.
PauseReaction pause_reaction(BitRate rate);

/// Returns headroom_needed_bytes() for a neighbour that is a device: our hosts and switches obey at
/// once.
std::uint64_t device_headroom_bytes(BitRate rate, Duration delay, std::uint32_t frame_bytes);

}  // namespace outrider::lab
