#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "switch/aqm/egress_queue.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/queue_marker.h"
#include "switch/egress/queue_part.h"
#include "switch/forwarding/classifier.h"
#include "switch/forwarding/forwarder.h"
#include "switch/regulation/regulator.h"
#include "switch/signals/burst_sizes.h"
#include "switch/signals/signal_gate.h"

namespace outrider::sw {

// The changes that a reload hands to the owners of queues, ports and lanes. A control thread
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
  double loss = 0;
  std::optional<Scheduler> scheduler{};
  std::vector<QueueChange> queues{};  ///< one for each queue of the port
};

/// The tables of a switch, which do not change while packets are forwarded. All lanes read them.
struct SwitchTables {
  Forwarder forwarder;
  Classifier classifier;
  BurstSizes burst_sizes;
  std::uint32_t signal_port;  ///< UDP port of signals; above 65535: the UDP form is not read
  bool predicts;              ///< a queue learns from DDL payload
};

/// Change of one lane.
struct LaneChange {
  const SwitchTables* tables = nullptr;  ///< nullptr: unchanged
  RouteTable::Turns turns{};             ///< for the new tables
  std::optional<SignalGate> gate{};
};

/// Change of one switch. An lcore's part is its lane and the ports that it owns.
struct SwitchChange {
  std::unique_ptr<SwitchTables> tables{};
  std::vector<LaneChange> lanes{};
  std::vector<std::unique_ptr<PortChange>> ports{};  ///< nullptr: unchanged
};

}  // namespace outrider::sw
