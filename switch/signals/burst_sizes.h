#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_key.h"
#include "switch/config/config.h"
#include "switch/forwarding/prefix_table.h"
#include "switch/signals/source_filter.h"

namespace outrider::sw {

/// The sizes of bursts whose START cannot say them, by where they go. The TOS form has no room for
/// a size, but whoever configures the switch may know the jobs. O(rows) for each START.
class BurstSizes {
 public:
  /// @param rows  must be valid
  explicit BurstSizes(const std::vector<BurstSizeConfig>& rows) {
    for (const auto& row : rows) {
      rows_.push_back({.ports = row.destination_ports, .bytes = row.bytes});
      insert_prefixes(rows_.back().destinations, row.destinations);
    }
  }

  /// Returns the bytes of a burst of that flow, as the first row says that it matches.
  [[nodiscard]] std::optional<std::uint64_t> of(const FlowKey& flow) const noexcept {
    const auto row = std::ranges::find_if(rows_, [&flow](const Row& r) {
      return (!r.ports || r.ports->contains(flow.destination_port)) &&
             r.destinations.lookup(flow.destination_address).has_value();
    });
    return row == rows_.end() ? std::nullopt : std::optional(row->bytes);
  }

 private:
  struct Row {
    PrefixTable destinations{};
    std::optional<PortRange> ports{};
    std::uint64_t bytes = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace outrider::sw
