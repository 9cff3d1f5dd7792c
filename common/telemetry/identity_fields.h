#pragma once

#include <concepts>
#include <type_traits>

#include "common/core/burst_identity.h"
#include "common/core/figure.h"

namespace outrider {

// Binding to reports, see json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, BurstIdentity>
void fields(V& v, R& identity) {
  v.value(Described{"job", "its number, from 0"}, identity.job);
  v.value(Described{"worker", "its number in the job, from 0"}, identity.worker);
  v.value(Described{"iteration", "of the job, from 0"}, identity.iteration);
  v.value(Described{"direction", "push or pull"}, identity.direction);
}

}  // namespace outrider
