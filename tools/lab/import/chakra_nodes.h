#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"

namespace outrider::lab {

/// A node of a trace, as its file has it.
struct ChakraNode {
  std::size_t byte = 0;  ///< where its message begins in the file
  std::uint64_t id = 0;
  std::string name{};
  std::uint64_t type = 0;
  std::vector<std::uint64_t> needs{};  ///< ids, of control and data
  std::uint64_t duration_us = 0;
  bool has_operations = false;  ///< num_ops: a simulator makes a time of them
  // These two are about communication. Absent: the attribute is.
  std::optional<std::uint64_t> comm_type{}, comm_bytes{}, comm_from{}, comm_to{}, comm_tag{};
  std::string group{};  ///< pg_name
};

/// NodeType of the schema, as far as it is of use here.
inline constexpr std::uint64_t kChakraCompute = 4, kChakraSend = 5, kChakraReceive = 6,
                               kChakraCollective = 7;

/// Reads the nodes of a file. Adds faults by their bytes, "rank 3, byte 120".
/// @param most  so many nodes at most
std::vector<ChakraNode> read_chakra_nodes(std::string_view file, std::size_t rank, std::size_t most,
                                          ConfigIssues& issues);

}  // namespace outrider::lab
