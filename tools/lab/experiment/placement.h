#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/quantities.h"

namespace outrider::lab {

/// Returns how many jobs have their server on each host that has a server. "21" is one host
/// for all of 21 jobs, "3x7" seven hosts with three each, "5,5,5,6" four hosts. Terms may be
/// mixed.
///
/// Source of the notation and of these placements: the scripts of TensorLights (Huang, Chen
/// and Ng, HPBDC 2019).
Parsed<std::vector<std::uint32_t>> parse_placement(std::string_view text);

/// Returns the index of the host that holds each job's server, jobs in order.
std::vector<std::uint32_t> server_hosts(const std::vector<std::uint32_t>& jobs_per_host);

}  // namespace outrider::lab
