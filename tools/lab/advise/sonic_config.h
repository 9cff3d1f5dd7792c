#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// A part of config_db.json for the switches of one role.
struct SonicFile {
  std::string name;  ///< "sonic.json"; "sonic-leaf.json" where switches differ
  std::string json;
};

struct SonicConfig {
  std::vector<SonicFile> files{};  ///< empty: the switches keep their settings
  std::string text;                ///< which file and which port is for what, for a terminal
};

/// Returns what an arm changes of the settings of switches that run SONiC, for RoCEv2: classes of
/// DSCPs; queues with ECN thresholds and shares of the link; pauses with the headroom that devices
/// need. Each of the three is there as a whole or not at all, and refers to nothing outside. Sizes
/// are bytes. Ports are named Ethernet0, Ethernet4, ..., those of hosts first. Without files, the
/// text says why. Pure.
///
/// Source of tables and keys: sonic-net/sonic-buildimage, src/sonic-yang-models.
/// @param frame_bytes  of a full packet, of which thresholds count so many
/// @pre the first job is over RoCEv2 in both, and both have the same switches
[[nodiscard]] SonicConfig sonic_config(const Case& today, const Case& advised,
                                       std::uint32_t frame_bytes);

}  // namespace outrider::lab
