#include "switch/config/switch_settings.h"

#include "switch/config/config_toml.h"
#include "switch/config/reload_rules.h"

namespace outrider::sw {

const SettingCatalogue& switch_settings() {
  static const auto kSettings = SettingCatalogue::of(SwitchProcessConfig{}, kMade);
  return kSettings;
}

}  // namespace outrider::sw
