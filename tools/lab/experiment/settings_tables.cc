#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "common/config/quantities.h"
#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {
namespace {

/// Returns the number before a unit, as in "4rtt" or "0.5 rtt"; nothing for any other text.
std::optional<double> multiple_of(std::string_view unit, std::string_view text) {
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  if (text.ends_with(' ')) text.remove_suffix(1);
  double times = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), times);
  constexpr double kMostTimes = 1e6;
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(times >= 0 && times <= kMostTimes))
    return std::nullopt;
  return times;
}

ConfigValue with_quantities(const ConfigValue& value, const Quantities& quantities) {
  if (const auto* table = value.as<ConfigTable>())
    return ConfigValue(with_quantities(*table, quantities));
  if (const auto* array = value.as<ConfigValue::Array>()) {
    ConfigValue::Array all;
    for (const auto& element : *array) all.push_back(with_quantities(element, quantities));
    return ConfigValue(std::move(all));
  }
  const auto* text = value.as<std::string>();
  if (text == nullptr) return value;
  if (*text == "h") return ConfigValue(std::int64_t{quantities.h_packets});
  if (const auto times = multiple_of("K", *text))
    return ConfigValue(std::int64_t{std::llround(*times * quantities.threshold_packets)});
  const auto rtts = multiple_of("rtt", *text);
  return rtts ? ConfigValue(format_duration(rtts_to_duration(*rtts, quantities.rtt))) : value;
}

}  // namespace

ConfigTable with_quantities(ConfigTable table, const Quantities& quantities) {
  for (auto& member : table.members) member.value = with_quantities(member.value, quantities);
  return table;
}

Duration rtts_to_duration(double rtts, Duration rtt) { return from_seconds(rtts * seconds(rtt)); }

ConfigTable with_nested_keys(const ConfigTable& table) {
  constexpr auto kMostParts = 16;  // of a key; a longer one is told as unknown
  ConfigTable nested;
  for (const auto& [key, value] : table.members) {
    const auto* below = value.as<ConfigTable>();
    const ConfigValue own = below == nullptr ? value : ConfigValue(with_nested_keys(*below));
    ConfigTable one;
    const bool parts = is_setting(key) && std::ranges::count(key, '.') < kMostParts;
    if (!parts || !assign(one, key, own)) one[key] = own;
    overlay(nested, one);
  }
  return nested;
}

std::vector<std::pair<std::string, ConfigValue>> with_dotted_keys(const ConfigTable& table) {
  std::vector<std::pair<std::string, ConfigValue>> all;
  for (const auto& [key, value] : table.members) {
    const auto* nested = value.as<ConfigTable>();
    if (nested == nullptr) all.emplace_back(key, value);
    else
      for (auto& [below, leaf] : with_dotted_keys(*nested))
        all.emplace_back(join_key(key, below), std::move(leaf));
  }
  return all;
}

const ConfigTable& table_in(const ConfigTable& table, std::string_view path) {
  static const ConfigTable kNone;
  const ConfigValue* value = find(table, path);
  const auto* nested = value == nullptr ? nullptr : value->as<ConfigTable>();
  return nested == nullptr ? kNone : *nested;
}

std::optional<ConfigValue> take_list(ConfigTable& file, std::string_view key) {
  const auto at = std::ranges::find(file.members, key, &ConfigMember::key);
  if (at == file.members.end() || !is_array_of_tables(at->value)) return std::nullopt;
  ConfigValue list = std::move(at->value);
  file.members.erase(at);
  return list;
}

void overlay(ConfigTable& into, const ConfigTable& over) {
  for (const auto& [key, value] : over.members) {
    const auto* nested = value.as<ConfigTable>();
    ConfigValue& target = into[key];
    if (nested != nullptr && target.as<ConfigTable>() != nullptr)
      overlay(*target.as<ConfigTable>(), *nested);
    else target = value;
  }
}

}  // namespace outrider::lab
