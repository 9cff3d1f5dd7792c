#pragma once

#include <optional>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Reference times of a push burst [s]; NaN where not defined.
struct References {
  double ideal;  ///< base RTT + wire bytes / rate, the larger of bottleneck and workers' NICs
  double alone;  ///< median burst completion of the run without background
  double fair;   ///< ideal with the bottleneck's share W / (W + N)
};

/// @param alone the same case without background, or nullptr
References references_of(const Case& definition, const RunResult& result, const RunResult* alone);

/// Returns the share of payload in the frame of a burst's full segment.
double payload_share(const Case& definition);
/// Returns the share of payload in the wire bytes of that frame, preamble and gap included.
double wire_payload_share(const Case& definition);

}  // namespace outrider::lab
