#pragma once

#include "common/config/setting_catalogue.h"

namespace outrider::sw {

/// Every setting of outrider-switch's file, with the rule of a reload. Made once.
const SettingCatalogue& switch_settings();

}  // namespace outrider::sw
