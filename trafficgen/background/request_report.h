#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/histogram.h"

namespace outrider::tg {

/// One answered request, kept on request.
struct RequestSample {
  std::int64_t answered_ns = 0;
  std::uint64_t latency_ns = 0;
};

/// The counts of one [[requests]] pair. Identity: opened == open + closed.
struct RequestReport {
  std::string name;
  std::uint64_t opened = 0;            ///< connections, including those opened again
  std::uint64_t open = 0;              ///< established now
  std::uint64_t closed = 0;            ///< reset, refused or given up
  std::uint64_t out_of_ports = 0;      ///< how often no source port was free
  std::uint64_t completed = 0;         ///< completely answered requests
  Histogram latency_ns;                ///< first request byte written to last answer byte in order
  std::uint64_t samples_not_kept = 0;  ///< samples beyond latency_samples; 0 if none are kept
  std::vector<RequestSample> samples;  ///< in the order of answers; not in the JSON report
};

}  // namespace outrider::tg
