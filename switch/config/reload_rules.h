#pragma once

#include "common/config/settings.h"

namespace outrider::sw {

// Why a running switch refuses another value of a setting; rows name these.

/// Of every row that says nothing, and whose table says nothing.
inline constexpr ReloadRule kMade = refused("is made at start-up: restart to change it");
inline constexpr ReloadRule kReserved = refused("takes memory that is reserved at start-up");
inline constexpr ReloadRule kLearned =
    refused("belongs to a table that holds what has been learned, which a reload keeps");
inline constexpr ReloadRule kDivided = refused("the shared buffer is divided at start-up");
inline constexpr ReloadRule kWindows =
    refused("windows of flows in progress follow from it since their handshakes");

}  // namespace outrider::sw
