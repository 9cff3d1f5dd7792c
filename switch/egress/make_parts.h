#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "switch/config/config.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/parts/hop_recorder.h"
#include "switch/egress/parts/packet_memory.h"
#include "switch/egress/parts/queue_tap.h"
#include "switch/egress/port_queue.h"

namespace outrider::sw {

class PortTransmitter;

/// Limits and objects of the switch, for a port and its parts.
struct PartLimits {
  QueueTap::Limits tap{};
  std::uint64_t seed = 1;             ///< for the ports' injected loss and random markers
  SharedBuffer* buffer = nullptr;     ///< the switch's shared buffer; nullptr: none
  std::size_t first_queue = 0;        ///< number of this port's queue 0 in the buffer
  std::optional<HopRecorder> hops{};  ///< absent: probes pass unchanged
  std::optional<std::uint16_t> telemetry_hop{};  ///< absent: packets of RoCEv2 do
  SignerShares signers{};              ///< of the switch's signers, at each regulated queue
  LosslessBuffer* lossless = nullptr;  ///< the switch's; nullptr: no port has a lossless queue
  std::uint16_t number = 0;            ///< of the port at its switch
};

/// The port that parts are made for, with the parts that all its queues share and it owns. What it
/// refers to must outlive the last packet, but for configuration and limits.
struct PartOwner {
  const SwitchPortConfig& config;
  const PartLimits& limits;
  FixedArray<PortQueue>& queues;
  const PortTransmitter& transmitter;
  QueuePart* grants;  ///< nullptr: no queue grants bursts
  QueuePart& impairments;
  QueuePart& subscribers;
  QueuePart* pauses;  ///< nullptr: no queue is lossless
};

/// Makes the parts that each queue of a port needs, and adds them to the queue with those that
/// it shares, in the order in which a packet meets them. Attribution and capture come behind these,
/// see EgressPort::attribute() and capture().
/// @return those that it has made, which must outlive the last packet
[[nodiscard]] std::vector<std::unique_ptr<QueuePart>> add_parts(const PartOwner& port);

}  // namespace outrider::sw
