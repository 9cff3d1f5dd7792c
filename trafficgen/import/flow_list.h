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

/// Reads a list of flows in the order of their starts, which are taken relative to the first
/// flow's: simulators' own lists begin at 2 s. Two formats are known, by their first line.
///
/// The `flow.txt` of HPCC's simulator: a line with the number of flows, then that many lines of
///
///     source destination priority-group destination-port size-in-bytes start-in-seconds
///
/// Anything after them is commentary and is not read. Priority groups and ports belong to RDMA;
/// they are checked to be numbers and not used.
/// Format: alibaba-edu/High-Precision-Congestion-Control, simulation/mix/flow.txt.
///
/// Comma-separated values: a line that names the columns `start_seconds`, `from`, `to` and `bytes`
/// in any order, among others that are not used, then a line for each flow.
///
/// @param hosts valid host numbers are 0 to hosts - 1
ConfigResult<std::vector<ListedFlow>> parse_flow_list(std::string_view text, std::size_t hosts);
ConfigResult<std::vector<ListedFlow>> load_flow_list(const std::string& path, std::size_t hosts);

}  // namespace outrider::tg
