#pragma once

#include "common/core/signal_key.h"
#include "trafficgen/workload/announce/signal_faults.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

/// The parameters that all STARTs for a job's pulls share.
struct PullStarts {
  AnnounceConfig config{};
  const SignalFaults* faults = nullptr;  ///< outlives the job's traffic
  const SignalKey* key = nullptr;        ///< the same; null: STARTs are unsigned
  std::uint8_t dscp = 0;                 ///< of the pulls' packets
};

}  // namespace outrider::tg
