#include "trafficgen/config/generator_settings.h"

#include "trafficgen/config/config_toml.h"

namespace outrider::tg {

const SettingCatalogue& generator_settings() {
  static const auto kSettings = SettingCatalogue::of(GeneratorConfig{}, {});
  return kSettings;
}

}  // namespace outrider::tg
