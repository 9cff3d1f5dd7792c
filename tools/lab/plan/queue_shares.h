#pragma once

#include <cstdint>

#include "switch/config/queue_config.h"

namespace outrider::lab {

/// Gives a queue `packets` of its limit, and that share of all that counts packets or bytes.
void shrink(sw::PortQueueConfig& queue, std::uint32_t packets);

}  // namespace outrider::lab
