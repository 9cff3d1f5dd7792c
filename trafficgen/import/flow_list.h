#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/clock.h"

namespace outrider::tg {

/// One flow of a list.
struct ListedFlow {
  Duration at{};           ///< start, relative to the list's first flow
  std::uint32_t from = 0;  ///< host number in the list
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
};

/// Reads the `flow.txt` of HPCC's simulator: a line with the number of flows, then that many lines
/// of
///
///     source destination priority-group destination-port size-in-bytes start-in-seconds
///
/// in the order of their starts. Anything after them is commentary and is not read. Priority groups
/// and ports belong to RDMA; they are checked to be numbers and not used. Starts are taken relative
/// to the first flow's, because the simulator's own lists begin at 2 s.
/// Format: alibaba-edu/High-Precision-Congestion-Control, simulation/mix/flow.txt.
///
/// @param hosts valid host numbers are 0 to hosts - 1
ConfigResult<std::vector<ListedFlow>> parse_hpcc_flows(std::string_view text, std::size_t hosts);
ConfigResult<std::vector<ListedFlow>> load_hpcc_flows(const std::string& path, std::size_t hosts);

}  // namespace outrider::tg
