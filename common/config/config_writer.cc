#include "common/config/config_writer.h"

#include <utility>

namespace outrider {

void ConfigWriter::row(const Setting& setting) {
  if (auto value = setting.ops.write(setting)) table_[setting.key] = std::move(*value);
}

void ConfigWriter::nested(const SettingTable& table) {
  if (table.only_defaults) return;
  ConfigTable content;
  ConfigWriter writer(content);
  table.describe_in(writer, table.field);
  table_[table.key] = ConfigValue(std::move(content));
}

void ConfigWriter::list(const SettingList& list) {
  const std::size_t size = list.size(list.list);
  if (size == 0) return;
  ConfigValue::Array array;
  for (std::size_t i = 0; i < size; ++i) {
    ConfigTable element;
    ConfigWriter writer(element);
    list.describe_at(writer, list.list, i);
    array.emplace_back(std::move(element));
  }
  table_[list.key] = ConfigValue(std::move(array));
}

void ConfigWriter::free_table(std::string_view key, ConfigTable& field, const About&) {
  table_[key] = ConfigValue(field);
}

}  // namespace outrider
