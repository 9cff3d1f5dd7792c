#pragma once

#include "common/config/settings.h"

namespace outrider::sw {

// Reasons why a running switch refuses a new value of a setting. Rows of settings name them.

/// The reason for a row that names none and whose table names none.
inline constexpr ReloadRule kMade = refused("is made at start-up: restart to change it");
inline constexpr ReloadRule kReserved = refused("takes memory that is reserved at start-up");
inline constexpr ReloadRule kLearned =
    refused("belongs to a table that holds what has been learned, which a reload keeps");
inline constexpr ReloadRule kDivided = refused("the shared buffer is divided at start-up");
inline constexpr ReloadRule kAnswers =
    refused("answers that wait were promised their turn under it");
inline constexpr ReloadRule kWindows =
    refused("windows of flows in progress follow from it since their handshakes");

}  // namespace outrider::sw
