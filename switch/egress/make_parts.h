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
  std::uint64_t seed = 1;              ///< for the ports' injected loss and random markers
  SharedBuffer* buffer = nullptr;      ///< the switch's shared buffer; nullptr: none
  std::size_t first_queue = 0;         ///< number of this port's queue 0 in the buffer
  std::optional<HopRecorder> hops{};   ///< absent: probes pass unchanged
  SignerShares signers{};              ///< of the switch's signers, at each regulated queue
  LosslessBuffer* lossless = nullptr;  ///< the switch's; nullptr: no port has a lossless queue
  std::uint16_t number = 0;            ///< of the port at its switch
};

/// The parts that all queues of a port share, and the port owns; nullptr: it has none.
struct PortParts {
  QueuePart* grants = nullptr;
  QueuePart* impairments = nullptr;
  QueuePart* subscribers = nullptr;
  QueuePart* pauses = nullptr;
};

/// Makes the parts that queue `number` of a port needs, and adds them to the queue with those that
/// it shares, in the order in which a packet meets them. Attribution and capture come behind these,
/// see EgressPort::attribute() and capture().
/// @param queues  of the port. @param made  keeps them. All arguments but the configurations and
/// limits must outlive the last packet
void add_parts(const SwitchPortConfig& port, const PortQueueConfig& config, std::size_t number,
               const PartLimits& limits, const PortParts& shared, FixedArray<PortQueue>& queues,
               const PortTransmitter& transmitter, std::vector<std::unique_ptr<QueuePart>>& made);

}  // namespace outrider::sw
