#pragma once

#include <cstdint>
#include <string>

#include "common/core/histogram.h"

namespace outrider {

/// What one [[requests]] pair did. Identity: opened == open + closed.
struct RequestReport {
  std::string name;
  std::uint64_t opened = 0;        ///< connections, those opened again too
  std::uint64_t open = 0;          ///< established now
  std::uint64_t closed = 0;        ///< reset, refused or given up
  std::uint64_t out_of_ports = 0;  ///< times that no source port was free
  std::uint64_t completed = 0;     ///< requests answered whole
  Histogram latency_ns;            ///< first request byte written to last answer byte in order
};

}  // namespace outrider
