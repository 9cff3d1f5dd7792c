#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/settings.h"
#include "common/core/config_issue.h"

namespace outrider {

/// Reads one table into one struct; see config_binding.h.
///
/// It records every error and goes on: a field whose value is invalid keeps its old one. It
/// never clamps. Call finish() last: it reports the keys that no row has read.
class ConfigReader final : public Settings {
 public:
  /// @param table, issues  must outlive the reader
  /// @param path  of the table, the prefix of the keys that are reported
  ConfigReader(const ConfigTable& table, std::string path, ConfigIssues& issues)
      : table_(table), path_(std::move(path)), issues_(issues) {}

  void free_table(std::string_view key, ConfigTable& field, const About& about = {}) override;

  /// Reports every key that no row has named as an error.
  void finish();

 private:
  void row(const Setting& setting) override;
  void nested(const SettingTable& table) override;
  void list(const SettingList& list) override;

  /// Returns the value of a key and marks the key as known.
  const ConfigValue* take(std::string_view key);
  void name_key_of_bytes();
  const ConfigTable* take_table(std::string_view key);
  void fault(std::string_view key, const ConfigValue& value, std::string_view rule);

  const ConfigTable& table_;
  std::string path_;
  ConfigIssues& issues_;
  std::vector<std::string> known_;
};

}  // namespace outrider
