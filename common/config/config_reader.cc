#include "common/config/config_reader.h"

#include <algorithm>

#include "common/config/quantities.h"
#include "common/config/removed_settings.h"
#include "common/config/suggestion.h"

namespace outrider {

void ConfigReader::row(const Setting& setting) {
  const ConfigValue* v = take(setting.key);
  if (v == nullptr) {
    if (setting.about.required) issues_.push_back({join_key(path_, setting.key), "is required"});
    return;
  }
  for (const auto& [index, rule] : setting.ops.read(setting, *v)) {
    if (!index) fault(setting.key, *v, rule);
    else fault(join_key("", setting.key, *index), (*v->as<ConfigValue::Array>())[*index], rule);
  }
}

void ConfigReader::nested(const SettingTable& table) {
  const ConfigTable* content = take_table(table.key);
  if (content == nullptr) return;
  ConfigReader reader(*content, join_key(path_, table.key), issues_);
  table.describe_in(reader, table.field);
  reader.finish();
}

void ConfigReader::list(const SettingList& list) {
  const ConfigValue* v = take(list.key);
  if (v == nullptr) return;
  const auto* array = v->as<ConfigValue::Array>();
  if (array == nullptr || !(array->empty() || is_array_of_tables(*v)))
    return fault(list.key, *v, "must be an array of tables: [[" + join_key(path_, list.key) + "]]");
  list.clear(list.list, array->size());
  for (std::size_t i = 0; i < array->size(); ++i) {
    ConfigReader reader(*(*array)[i].as<ConfigTable>(), join_key(path_, list.key, i), issues_);
    list.describe_new(reader, list.list, list.prototype);
    reader.finish();
  }
}

void ConfigReader::free_table(std::string_view key, ConfigTable& field, const About&) {
  if (const ConfigTable* content = take_table(key)) field = *content;
}

/// A size given to a key that counts packets: names the key beside it that takes sizes.
void ConfigReader::name_key_of_bytes() {
  constexpr std::string_view kPackets = "_packets";
  for (const std::string& key : known_) {
    if (!key.ends_with(kPackets)) continue;
    const ConfigValue* v = table_.get(key);
    const auto* text = v == nullptr ? nullptr : v->as<std::string>();
    if (text == nullptr || !parse_bytes(*text).value) continue;
    const std::string bytes = key.substr(0, key.size() - kPackets.size()) + "_bytes";
    const bool there = std::ranges::find(known_, bytes) != known_.end();
    for (auto& issue : issues_)
      if (issue.key == join_key(path_, key))
        issue.problem += there ? " of packets; a size is " + bytes
                               : " of packets; this setting takes no size in bytes";
  }
}

void ConfigReader::finish() {
  name_key_of_bytes();
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [key, value] : table_.members) {
    if (issues_.has_more()) return;  // the nearest key takes time to find
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string at = join_key(path_, key);
    const std::string gone(removed_setting(at));
    issues_.push_back({at, gone.empty() ? "unknown key" + suggestion(key, known) : gone});
  }
}

const ConfigValue* ConfigReader::take(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

const ConfigTable* ConfigReader::take_table(std::string_view key) {
  const ConfigValue* v = take(key);
  if (v == nullptr) return nullptr;
  const auto* table = v->as<ConfigTable>();
  if (table == nullptr) fault(key, *v, "must be a table: [" + join_key(path_, key) + "]");
  return table;
}

void ConfigReader::fault(std::string_view key, const ConfigValue& value, std::string_view rule) {
  issues_.push_back({join_key(path_, key), display(value) + ": " + std::string(rule)});
}

}  // namespace outrider
