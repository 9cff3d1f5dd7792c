#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "switch/aqm/egress_queue.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/marker_list.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_marker.h"
#include "switch/egress/queue_part.h"
#include "switch/regulation/regulator/regulator.h"

namespace outrider::sw {

// The changes that a reload hands to the owners of queues and ports. A control thread
// makes and frees them; an owner only swaps its parts in. Each part has one owner, and only
// that owner may change it.

/// Returns the policy of a queue with what follows from other settings. @param rate  that its
/// bursts are regulated for
[[nodiscard]] RegulationPolicy policy_of(const PortQueueConfig& config, BitRate rate,
                                         const SignerShares& signers);

/// Change of one egress queue. A part that is absent stays as it is.
struct QueueChange {
  PortQueueConfig config{};
  std::optional<QueueMarker> marker{};
  std::unique_ptr<Regulator> regulator{};  ///< regulation begins
  /// Present if the new limit exceeds the slots of the current FIFO.
  std::optional<EgressQueue<Packet*>> fifo{};
  std::vector<std::unique_ptr<PartChange>> parts{};  ///< of each part, in order; nullptr: none
};

/// Change of one egress port.
struct PortChange {
  BitRate drain_rate{};
  RateLayer rate_layer{};
  std::optional<Scheduler> scheduler{};
  std::vector<QueueChange> queues{};  ///< one for each queue of the port
};

/// Prepares the change of a queue. A control thread calls it while no other change is under
/// way. @param setup  of the new configuration. @param new_rate  whether the drain rate changes
[[nodiscard]] QueueChange prepare_change(const PortQueue& queue, const PartReload& reload,
                                         const MarkerSetup& setup, bool new_rate);
/// Swaps in what changes. Waiting packets stay, in order. Allocates and frees nothing: what is no
/// longer needed is left in `change`. @pre `now` is not before the queue's last packet
void apply_change(QueueChange& change, PortQueue& queue, Time now) noexcept;

}  // namespace outrider::sw
