#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"

namespace outrider::lab {

/// What the hosts of each rack send to those of each other, relative to each other.
using RackMatrix = std::vector<std::vector<double>>;  ///< [from rack][to rack]

/// Reads a matrix: a line for each rack that sends, in the order of the fabric's leaves, with a
/// number of at least 0 for each rack that receives. A `#` begins a comment.
/// @return empty, with all faults by line, if it is not one of `racks` x `racks`
RackMatrix parse_rack_matrix(std::string_view text, std::size_t racks, ConfigIssues& issues);

/// Reads a file. @return empty, with faults, if it cannot be read
RackMatrix load_rack_matrix(const std::string& path, std::size_t racks, ConfigIssues& issues);

}  // namespace outrider::lab
