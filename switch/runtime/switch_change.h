#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "switch/egress/reload_change.h"
#include "switch/forwarding/route_table.h"
#include "switch/runtime/switch_lane.h"
#include "switch/signals/signal_gate.h"

namespace outrider::sw {

/// Change of one lane.
struct LaneChange {
  const SwitchTables* tables = nullptr;              ///< nullptr: unchanged
  std::optional<RouteTable::Spreading> spreading{};  ///< for the new tables, with them
  std::optional<SignalGate> gate{};
};

/// Change of one switch. An lcore's part is its lane and the ports that it owns.
struct SwitchChange {
  std::unique_ptr<SwitchTables> tables{};
  std::vector<LaneChange> lanes{};
  std::vector<std::unique_ptr<PortChange>> ports{};  ///< nullptr: unchanged
};

/// Applies the change of one lane, on its lcore. Allocates and frees nothing.
inline void swap_in(LaneChange& change, SwitchLane& lane) noexcept {
  if (change.tables != nullptr) {
    lane.tables = change.tables;
    change.spreading->flowlets.inherit(lane.forwarding.spreading.flowlets);
    std::swap(lane.forwarding.spreading, *change.spreading);
  }
  if (change.gate) {
    change.gate->inherit(lane.gate);
    std::swap(lane.gate, *change.gate);
  }
}

}  // namespace outrider::sw
