#pragma once

#include "common/config/setting_catalogue.h"

namespace outrider::tg {

/// Every setting of outrider-trafficgen's file. It is never reloaded. Made once.
const SettingCatalogue& generator_settings();

}  // namespace outrider::tg
