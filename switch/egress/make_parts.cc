#include "switch/egress/make_parts.h"

#include "switch/egress/parts/burst_records.h"
#include "switch/egress/parts/departure_observers.h"
#include "switch/egress/parts/fair_windows.h"
#include "switch/egress/parts/held_windows.h"
#include "switch/egress/parts/paced_background.h"
#include "switch/egress/parts/remote_bottlenecks.h"
#include "switch/egress/parts/steered_bursts.h"

namespace outrider::sw {

void add_parts(const SwitchPortConfig& port, const PortQueueConfig& config, std::size_t number,
               const PartLimits& limits, const PortParts& shared, FixedArray<PortQueue>& queues,
               const PortTransmitter& transmitter, std::vector<std::unique_ptr<QueuePart>>& made) {
  PortQueue& queue = queues[number];
  const auto own_number = static_cast<std::uint8_t>(number);
  const RegulationPolicy& regulation = config.regulation;
  const auto join = [&](QueuePart* part) {
    if (part != nullptr) queue.add(*part);
  };
  const auto add = [&](std::unique_ptr<QueuePart> part) {
    join(made.emplace_back(std::move(part)).get());
  };
  const bool windows = holds_windows(regulation.mode);
  const PacketMemory::Setup memory{.buffer = limits.buffer,
                                   .buffer_queue = limits.first_queue + number,
                                   .lossless = limits.lossless,
                                   .number = own_number};
  join(shared.grants);
  if (steers(regulation.mode))
    add(std::make_unique<SteeredBursts>(config, queue, queues[regulation.steer_to_queue]));
  join(shared.impairments);
  if (port.record) add(std::make_unique<BurstRecords>(limits.tap, own_number, queue, transmitter));
  join(shared.subscribers);
  if (windows && !regulation.window.beyond.empty())
    add(std::make_unique<RemoteBottlenecks>(config, port.rate_layer, limits.signers));
  if (windows) add(std::make_unique<HeldWindows>(config, port, queue));
  if (shares_windows(regulation.mode)) add(std::make_unique<FairWindows>(config, port, queue));
  add(std::make_unique<PacedBackground>(config, port.drain_rate, queue));
  join(shared.pauses);
  if (PacketMemory::needed(memory)) add(std::make_unique<PacketMemory>(memory));
  if (limits.hops) add(std::make_unique<HopRecords>(*limits.hops, own_number));
}

}  // namespace outrider::sw
