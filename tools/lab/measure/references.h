#pragma once

#include <optional>

#include "tools/lab/experiment/case.h"
#include "tools/lab/run/run_result.h"

namespace outrider::lab {

/// What a push burst could take at best [s]; NaN where it is not defined.
struct References {
  double ideal;  ///< base RTT + wire bytes / rate, the larger of bottleneck and workers' NICs
  double alone;  ///< median burst completion of the run without background
  double fair;   ///< ideal with the bottleneck's share W / (W + N)
};

/// @param alone the same case without background, or nullptr
References references_of(const Case& definition, const RunResult& result, const RunResult* alone);

/// Payload in a full segment of a burst, as a share of its frame.
double payload_share(const Case& definition);
/// The same of what it takes of a wire, preamble and gap included.
double wire_payload_share(const Case& definition);

}  // namespace outrider::lab
