#pragma once

#include <cstdint>

#include "switch/config/queue_config.h"

namespace outrider::lab {

// Shares of the memory of one queue, for each of two.

/// Gives a queue `packets` of its limit, and that share of all that counts packets or bytes.
void shrink(sw::PortQueueConfig& queue, std::uint32_t packets);

/// Gives a queue that share of its limits alone. @param round  to whole packets and bytes
void limit(sw::QueueConfig& queue, double share, double (*round)(double));

}  // namespace outrider::lab
