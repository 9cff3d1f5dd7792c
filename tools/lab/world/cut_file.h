#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"

namespace outrider::lab {

/// What a file that cuts a case has to fit. Nodes are the switches, then the hosts.
struct CutNodes {
  std::vector<std::string_view> names{};       ///< [nodes]
  std::size_t switches = 0;                    ///< how many of the nodes
  std::vector<std::uint32_t> group_of_host{};  ///< [hosts] see tg::host_groups()
  std::vector<std::size_t> unit_of{};          ///< [nodes] those of a unit are on one rank
  /// [units] a unit that is not named is on the rank of this switch
  std::vector<std::size_t> home_of_unit{};
};

/// Reads an explicit partition: a line for each switch, and for hosts that are not to be on the
/// rank of their first switch,
///
///     NAME RANK
///
/// A host stands for all hosts that share traffic with it. A `#` begins a comment.
///
/// @return [units] rank; nothing, with all faults by line, if the file does not fit
[[nodiscard]] std::optional<std::vector<std::uint32_t>> ranks_by_file(std::string_view text,
                                                                      const CutNodes& nodes,
                                                                      std::uint32_t ranks,
                                                                      ConfigIssues& issues);

}  // namespace outrider::lab
