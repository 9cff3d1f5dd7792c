#pragma once

#include <concepts>
#include <type_traits>

#include "common/core/poll_gaps.h"

namespace outrider {

// Binding to reports, see json_fields.h.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PollGap>
void fields(V& v, R& gap) {
  v.value("at_ns", gap.at_ns);
  v.value("length_ns", gap.length_ns);
}

}  // namespace outrider
