#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

/// Returns a part of SONiC's config_db.json with the settings of a case over RoCEv2: classes,
/// queues, ECN thresholds, the link's shares and pauses. Sizes are bytes. Ports have the names
/// Ethernet0, Ethernet4, ..., as many as the first switch has. A strict queue beside a floor
/// becomes weights. Empty where the marker, a controller or XOFF has no counterpart there. Pure.
///
/// Source of tables and keys: sonic-net/sonic-buildimage, src/sonic-yang-models.
/// @param frame_bytes  of a full packet, of which thresholds count so many
/// @param most_ports  that are listed
[[nodiscard]] std::string sonic_config(const Case& c, std::uint32_t frame_bytes,
                                       std::size_t most_ports);

}  // namespace outrider::lab
