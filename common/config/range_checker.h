#pragma once

#include <string_view>
#include <utility>

#include "common/config/checks.h"
#include "common/config/settings.h"

namespace outrider {

/// Records the values that the ranges of their rows refuse, each by its key.
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

/// The rules that concern one setting each, of a struct with a describe().
/// @param config  a copy: describe() takes what it visits by reference
template <class T>
void check_ranges(const Checks& at, T config) {
  RangeChecker checker(at);
  describe(static_cast<Settings&>(checker), config);
}

}  // namespace outrider
