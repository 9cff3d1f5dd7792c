#pragma once

#include <cstdint>
#include <string>

#include "trafficgen/background/flow_report.h"
#include "trafficgen/measure/roce_counters.h"

namespace outrider::tg {

/// A group of flows that arrive and end, over any transport.
class FlowGroupSource {
 public:
  virtual ~FlowGroupSource() = default;
  /// Sets the timer of the first arrival. Call it once.
  virtual void schedule() = 0;
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  [[nodiscard]] virtual FlowGroupReport report() const = 0;
  [[nodiscard]] virtual FlowGroupCounts counts() const noexcept = 0;
  /// Returns the counts of its queue pairs; zeros if it has none.
  [[nodiscard]] virtual RoceCounters roce() const { return {}; }
};

}  // namespace outrider::tg
