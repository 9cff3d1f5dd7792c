#pragma once

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "switch/egress/egress_port.h"
#include "switch/runtime/switch_lane.h"

namespace outrider::sw {

// The signals among the packets of a switch: a START is judged by the lane's gate and announced to
// the egress port that its burst will leave through; an ACK may wait there, or be given a lead.
// Only the lane's lcore calls these functions, and it owns the port.

/// Takes a signal of the TOS form. @param port  that the packet leaves through
/// @pre a TCP segment without payload
/// @return whether it is a signal, which is served first
[[nodiscard]] bool take_tos_signal(SwitchLane& lane, EgressPort& port, Packet& packet,
                                   Time now) noexcept;
/// Takes a signal of the UDP form. @pre the packet goes to the signals' port
/// @return whether it is a signal, which is served first
[[nodiscard]] bool take_udp_signal(SwitchLane& lane, EgressPort& port, Packet& packet,
                                   Time now) noexcept;
/// Notes with DDL payload whether predictions may learn from it.
void note_source(const SwitchLane& lane, Packet& packet) noexcept;

/// Writes into an ACK that arrived at port `in` how early the port's queues want the START of the
/// next burst. Of several switches on its way the longest lead stands. Whoever sent the ACK
/// could have written any lead, so it need not be judged.
[[gnu::noinline]] void write_lead(const SwitchLane& lane, EgressPort& in, Packet& packet,
                                  Time now) noexcept;
/// Shows a packet that arrived at port `in` to the bursts that wait there for their grant.
/// @param out  index of its egress port. @pre in.grants() != nullptr
/// @return whether that took ownership, of an ACK that has to wait or is of no use
[[nodiscard, gnu::noinline]] bool take_ack(const SwitchLane& lane, EgressPort& in, Packet* packet,
                                           std::uint16_t out, Time now) noexcept;

}  // namespace outrider::sw
