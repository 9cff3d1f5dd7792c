#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"

namespace outrider {

/// Remembers a value for each of a bounded number of flows. A flow beyond them makes it forget the
/// one that came in first. A new value for a known flow does not make that flow newer.
///
/// All operations are O(1). Allocates only at construction. Not thread-safe.
template <class T>
class FlowMemory {
 public:
  /// @param flows  that are remembered at most, > 0
  explicit FlowMemory(std::uint32_t flows) : values_(flows), order_(flows) {}

  /// Returns nullptr if the flow is not remembered. Valid until the next put().
  [[nodiscard]] T* find(const FlowKey& flow) noexcept { return values_.find(flow); }
  [[nodiscard]] const T* find(const FlowKey& flow) const noexcept { return values_.find(flow); }

  void put(const FlowKey& flow, const T& value) noexcept {
    if (T* known = values_.find(flow); known != nullptr) {
      *known = value;
      return;
    }
    if (values_.full()) values_.erase(order_[next_]);
    assert(!values_.full());  // order_ names every flow of the table
    values_.insert(flow, value);
    order_[next_] = flow;
    next_ = (next_ + 1) % order_.size();
  }

  /// Memory of a flow.
  static constexpr std::size_t bytes_per_flow() noexcept {
    return sizeof(FlowKey) + 2 * (sizeof(FlowKey) + sizeof(T) + sizeof(std::uint32_t));
  }

 private:
  FlowTable<T> values_;
  std::vector<FlowKey> order_;  ///< ring of flows in the order in which they came in
  std::size_t next_ = 0;        ///< position in order_ of the next flow, and of the oldest one
};

}  // namespace outrider
