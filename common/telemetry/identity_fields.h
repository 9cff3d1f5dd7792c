#pragma once

#include <concepts>
#include <type_traits>

#include "common/core/burst_identity.h"

namespace outrider {

// Binding to reports, see json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, BurstIdentity>
void fields(V& v, R& identity) {
  v.value("job", identity.job);
  v.value("worker", identity.worker);
  v.value("iteration", identity.iteration);
  v.value("direction", identity.direction);
}

}  // namespace outrider
