#pragma once

#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Returns a full packet of a group's transport: what `load` counts. Over RoCEv2 it is that of the
/// host with the smallest MTU. @pre the configuration is valid
[[nodiscard]] FullPacket full_packet_of(const GeneratorConfig& config, const FlowsConfig& flows);

}  // namespace outrider::tg
