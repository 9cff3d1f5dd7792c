#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"
#include "tools/lab/import/job_trace.h"

namespace outrider::lab {

/// Most nodes of all files of a trace together. A node takes some 200 bytes.
inline constexpr std::size_t kMostChakraNodes = 1'000'000;

/// Reads execution traces of Chakra, a file for each rank: protobuf messages, each behind its
/// length, GlobalMetadata and then nodes. Both versions of the schema are read: they differ in
/// GlobalMetadata, which is passed over, and in kinds of nodes.
///
/// Nodes that compute for a told time become steps, and collectives, sends and receives that match
/// from rank to rank: the n-th collective of a process group (pg_name) in each of the ranks that
/// have the group, the n-th send and receive of two ranks and a tag. Other nodes take no time and
/// keep the order of those around them.
///
/// The wire format is read here: nine fields of two messages are, and protobuf's library would need
/// a compiler of its own to build and say no byte of a fault.
///
/// @param files [ranks] the content of each rank's file
/// @return the steps, or the faults by rank and byte
/// Format: mlcommons/chakra, schema/protobuf/et_def.proto and et_def/et_def.proto; what collectives
/// mean by comm_size: astra-sim/astra-sim, astra-sim/system/collective/Ring.cc.
ConfigResult<JobTrace> parse_chakra_trace(const std::vector<std::string_view>& files);

}  // namespace outrider::lab
