#pragma once

#include "common/config/setting_catalogue.h"

namespace outrider::sw {

/// Returns every setting of outrider-switch's file with its reload rule. It is built once.
const SettingCatalogue& switch_settings();

}  // namespace outrider::sw
