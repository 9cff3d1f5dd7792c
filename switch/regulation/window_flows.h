#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/clock.h"
#include "common/core/flow_table.h"
#include "switch/regulation/window_counters.h"
#include "switch/regulation/window_flow.h"

namespace outrider {

/// The flows that a window clamp follows, by their data direction.
///
/// Bounded: beyond `max_flows`, a new flow takes the place of one that has ended, has not completed
/// its handshake, or is silent. It looks at the next kVictimProbes flows in turn for one. O(1);
/// allocates only at construction. Not thread-safe.
class WindowFlows {
 public:
  /// @param max_flows > 0
  explicit WindowFlows(std::uint32_t max_flows) : index_(max_flows) { flows_.reserve(max_flows); }

  [[nodiscard, gnu::always_inline]] WindowFlow* find(const FlowKey& data_flow) noexcept {
    const std::uint32_t* at = index_.find(data_flow);
    return at == nullptr ? nullptr : &flows_[*at];
  }
  [[nodiscard]] const WindowFlow* find(const FlowKey& data_flow) const noexcept {
    return const_cast<WindowFlows*>(this)->find(data_flow);
  }
  /// Adds a flow, and counts that. @pre find() is nullptr. @return nullptr if there is no room
  WindowFlow* insert(const FlowKey& data_flow, Time now, WindowCounters& counters) noexcept;

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(flows_.size());
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const WindowFlow& f : flows_) visit(f);
  }
  static std::size_t bytes_per_flow() noexcept {
    return sizeof(WindowFlow) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
  }

 private:
  static constexpr std::size_t kVictimProbes = 8;

  std::vector<WindowFlow> flows_;   ///< dense; capacity max_flows
  FlowTable<std::uint32_t> index_;  ///< data flow -> position in flows_
  std::size_t next_victim_ = 0;
};

}  // namespace outrider
