#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/figure.h"
#include "common/core/histogram.h"

namespace outrider::tg {

/// One answered request, kept on request.
struct RequestSample {
  std::int64_t answered_ns = 0;
  std::uint64_t latency_ns = 0;
};

/// The counts of one [[requests]] pair. Identity: opened == open + closed.
struct RequestCounts {
  std::uint64_t opened = 0;        ///< connections, including those opened again
  std::uint64_t open = 0;          ///< established now
  std::uint64_t closed = 0;        ///< reset, refused or given up
  std::uint64_t out_of_ports = 0;  ///< how often no source port was free
  std::uint64_t completed = 0;     ///< completely answered requests
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RequestCounts>
void fields(V& v, R& r) {
  v.value(counter("opened", "connections", "Connections, with those opened again")
              .as("opened_connections"),
          r.opened);
  v.value(gauge("open", "connections", "Connections that are established").as("open_connections"),
          r.open);
  v.value(counter("closed", "connections", "Connections that were reset, refused or given up")
              .as("closed_connections"),
          r.closed);
  v.value(counter("out_of_ports", "times", "Times that no source port was free"), r.out_of_ports);
  v.value(counter("completed", "requests", "Requests that were answered").as("completed_requests"),
          r.completed);
}

struct RequestReport : RequestCounts {
  std::string name;
  Histogram latency_ns;                ///< first request byte written to last answer byte in order
  std::uint64_t samples_not_kept = 0;  ///< samples beyond latency_samples; 0 if none are kept
  std::vector<RequestSample> samples;  ///< in the order of answers
};

}  // namespace outrider::tg
