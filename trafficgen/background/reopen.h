#pragma once

#include <chrono>

#include "common/core/clock.h"

namespace outrider::tg {

/// Time after which a background connection that was refused or given up is opened again.
inline constexpr Duration kReopenAfter = std::chrono::seconds(1);

}  // namespace outrider::tg
