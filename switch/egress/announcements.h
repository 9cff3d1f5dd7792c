#pragma once

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "switch/egress/port_queue.h"
#include "switch/regulation/policy/start_signal.h"

namespace outrider::sw {

// Bursts are announced to a queue by a START, or by payload that goes to another queue. Its parts
// see either before its regulator and after it, and may keep it from the regulator.

/// Handles a START for a burst that will leave through that queue.
void announce(PortQueue& queue, const StartSignal& start, Time now) noexcept;
/// Shows a packet of DDL payload that goes to another queue, to whose bursts that queue subscribes.
/// @param same_port  whether it takes the same link
void show_elsewhere(PortQueue& queue, Packet& packet, bool same_port, Time now) noexcept;

}  // namespace outrider::sw
