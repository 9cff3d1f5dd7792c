#include "switch/egress/make_parts.h"

#include <utility>

#include "switch/egress/parts/burst_records.h"
#include "switch/egress/parts/demoted_flows.h"
#include "switch/egress/parts/departure_observers.h"
#include "switch/egress/parts/fair_windows.h"
#include "switch/egress/parts/held_windows.h"
#include "switch/egress/parts/paced_background.h"
#include "switch/egress/parts/path_telemetry.h"
#include "switch/egress/parts/port_room.h"
#include "switch/egress/parts/remote_bottlenecks.h"
#include "switch/egress/parts/steered_bursts.h"

namespace outrider::sw {

namespace {

/// Does so for queue `q`. @param room  of all queues; nullptr: none. @param made  keeps the parts
void add_to(const PartOwner& port, const PortQueueConfig& config, std::size_t q, QueuePart* room,
            std::vector<std::unique_ptr<QueuePart>>& made) {
  PortQueue& queue = port.queues[q];
  const PartLimits& limits = port.limits;
  const auto number = static_cast<std::uint8_t>(q);
  const RegulationPolicy& regulation = config.regulation;
  const auto join = [&](QueuePart* part) {
    if (part != nullptr) queue.parts().add(*part);
  };
  const auto add = [&](std::unique_ptr<QueuePart> part) {
    join(made.emplace_back(std::move(part)).get());
  };
  const bool windows = holds_windows(regulation.mode);
  const PacketMemory::Setup memory{.buffer = limits.buffer,
                                   .buffer_queue = limits.first_queue + q,
                                   .lossless = limits.lossless,
                                   .number = number};
  join(port.grants);
  if (steers(regulation.mode))
    add(std::make_unique<SteeredBursts>(config, queue, port.queues[regulation.steer_to_queue]));
  if (config.queue.demotion.after_bytes) add(std::make_unique<DemotedFlows>(config, queue));
  join(&port.impairments);
  if (port.config.record)
    add(std::make_unique<BurstRecords>(limits.tap, number, queue, port.transmitter));
  join(&port.subscribers);
  if (windows && !regulation.window.beyond.empty())
    add(std::make_unique<RemoteBottlenecks>(config, port.config.rate_layer, limits.signers));
  if (windows) add(std::make_unique<HeldWindows>(config, port.config, queue));
  if (shares_windows(regulation.mode))
    add(std::make_unique<FairWindows>(config, port.config, queue));
  add(std::make_unique<PacedBackground>(config, port.config.drain_rate, queue));
  join(port.pauses);
  join(room);
  if (PacketMemory::needed(memory)) add(std::make_unique<PacketMemory>(memory));
  if (limits.hops) add(std::make_unique<HopRecords>(*limits.hops, number));
  if (limits.telemetry_hop)
    add(std::make_unique<PathTelemetry>(*limits.telemetry_hop, port.transmitter));
}

}  // namespace

std::vector<std::unique_ptr<QueuePart>> add_parts(const PartOwner& port) {
  std::vector<std::unique_ptr<QueuePart>> made;
  const auto configs = queues_of(port.config);
  QueuePart* room = nullptr;
  if (port.config.limit_packets || port.config.limit_bytes)
    room = made.emplace_back(std::make_unique<PortRoom>(port.config)).get();
  for (std::size_t q = 0; q < configs.size(); ++q) add_to(port, configs[q], q, room, made);
  return made;
}

}  // namespace outrider::sw
