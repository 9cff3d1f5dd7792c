#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/config/config_result.h"
#include "trafficgen/import/flow_list.h"

namespace outrider::lab {

/// A connection matrix of htsim, as it was read.
struct ConnectionMatrix {
  std::size_t nodes = 0;
  std::vector<tg::ListedFlow> flows{};  ///< in the order of their starts
  std::uint64_t waiting = 0;            ///< flows that wait for others to end: not in `flows`
  std::uint64_t failures = 0;           ///< links that fail: not used
};

/// Reads a connection matrix of htsim: lines "Nodes N", "Connections N" and perhaps "Triggers N"
/// and "Failures N", then a line for each flow,
///
///     from->to id N start PICOSECONDS size BYTES
///
/// with "trigger N" in the place of the start for a flow that waits for others, lines that begin
/// with "trigger", and lines that begin with "failure". Other words of a flow are "msg",
/// "send_done_trigger", "recv_done_trigger" and "prio", which are not used.
/// Format: spcl/HTSIM, htsim/sim/datacenter/connection_matrices.
///
/// @return the matrix, or faults by "line N"
ConfigResult<ConnectionMatrix> parse_connection_matrix(std::string_view text);

}  // namespace outrider::lab
