#pragma once

#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/settings.h"

namespace outrider {

/// Records the values that are outside the ranges of their rows, each by its key.
class RangeChecker final : public Settings {
 public:
  explicit RangeChecker(Checks at) : at_(std::move(at)) {}

  void free_table(std::string_view, ConfigTable&, const About& = {}) override {}

 private:
  void row(const Setting& setting) override { setting.ops.check(setting, at_); }
  void nested(const SettingTable& table) override;
  void list(const SettingList& list) override;

  Checks at_;
};

/// Checks the ranges of all settings of a struct with a describe(), each by itself.
/// @param config  a copy: describe() takes what it visits by reference
template <class T>
void check_ranges(const Checks& at, T config) {
  RangeChecker checker(at);
  describe(static_cast<Settings&>(checker), config);
}

}  // namespace outrider
