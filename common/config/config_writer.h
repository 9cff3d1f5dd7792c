#pragma once

#include <string_view>

#include "common/config/settings.h"

namespace outrider {

/// Writes one struct into one table; see config_binding.h. Every key is written, including
/// defaults, except an optional without a value.
///
/// @pre unsigned 64-bit values fit TOML's signed integers, as validate() requires
class ConfigWriter final : public Settings {
 public:
  explicit ConfigWriter(ConfigTable& table) : table_(table) {}

  void free_table(std::string_view key, ConfigTable& field, const About& about = {}) override;

 private:
  void row(const Setting& setting) override;
  void nested(const SettingTable& table) override;
  void list(const SettingList& list) override;

  ConfigTable& table_;
};

}  // namespace outrider
