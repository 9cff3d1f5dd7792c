#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/aqm/egress_queue.h"
#include "common/aqm/scheduler.h"
#include "common/regulation/regulator.h"
#include "switch/config/config.h"
#include "switch/egress/pace_hold.h"
#include "switch/egress/queue_marker.h"
#include "switch/forwarding/classifier.h"
#include "switch/forwarding/forwarder.h"
#include "switch/signals/signal_gate.h"

namespace outrider::sw {

// What a reload hands to the owners: made, and freed again, by a control thread, so that an
// owner only exchanges. Each part has one owner, who may change it.

/// Of one egress queue. What is absent stays as it is.
struct QueueChange {
  PortQueueConfig config{};
  std::optional<QueueMarker> marker{};
  std::optional<Regulator> regulator{};  ///< regulation begins
  std::unique_ptr<PaceHold> hold{};      ///< pacing begins, or holds more, or at another rate
  /// The limit is beyond the slots of the queue that there is.
  std::optional<EgressQueue<Packet*>> queue{};
  PaceCounters paced{};  ///< filled in when pacing ends
};

/// Of one egress port.
struct PortChange {
  BitRate drain_rate{};
  RateLayer rate_layer{};
  double loss = 0;
  std::optional<Scheduler> scheduler{};
  std::vector<QueueChange> queues{};  ///< all of the port
};

/// What is fixed while packets are forwarded by it; all lanes read it.
struct SwitchTables {
  Forwarder forwarder;
  Classifier classifier;
  std::uint32_t signal_port;  ///< UDP; beyond every port: the UDP form is not read
};

/// Of one lane.
struct LaneChange {
  const SwitchTables* tables = nullptr;  ///< nullptr: as before
  RouteTable::Turns turns{};             ///< of the new tables
  std::optional<SignalGate> gate{};
};

/// Of one switch. The lane of an lcore and the ports it owns are its part.
struct SwitchChange {
  std::unique_ptr<SwitchTables> tables{};
  std::vector<LaneChange> lanes{};
  std::vector<std::unique_ptr<PortChange>> ports{};  ///< nullptr: as before
};

}  // namespace outrider::sw
