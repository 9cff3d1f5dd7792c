#pragma once

#include "common/config/setting_catalogue.h"

namespace outrider::tg {

/// Returns all settings of outrider-trafficgen's file, which is never reloaded. Made once.
const SettingCatalogue& generator_settings();

}  // namespace outrider::tg
