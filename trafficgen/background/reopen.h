#pragma once

#include <chrono>

#include "common/core/clock.h"

namespace outrider::tg {

/// A background connection that was refused or given up is opened anew after this time.
inline constexpr Duration kReopenAfter = std::chrono::seconds(1);

}  // namespace outrider::tg
