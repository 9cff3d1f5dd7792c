#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "common/core/figure.h"

namespace outrider::tg {

/// Counts of payload that receivers compared with the pattern.
struct PayloadReport {
  std::uint64_t verified_bytes = 0;  ///< compared, mismatches included
  std::uint64_t mismatched_bytes = 0;
  std::uint64_t mismatched_segments = 0;
};

// Binding, see common/telemetry/json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PayloadReport>
void fields(V& v, R& r) {
  v.value(counter("verified_bytes", "bytes", "Payload that was compared with the pattern"),
          r.verified_bytes);
  v.value(counter("mismatched_bytes", "bytes", "Payload of these that differed"),
          r.mismatched_bytes);
  v.value(counter("mismatched_segments", "segments", "Segments with such payload"),
          r.mismatched_segments);
}

}  // namespace outrider::tg
