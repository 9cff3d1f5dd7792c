#include "common/config/config_reader.h"

#include <algorithm>
#include <cmath>

#include "common/config/suggestion.h"

namespace outrider {

std::string ConfigReader::from(const ConfigValue& v, bool& out) {
  const auto* b = v.as<bool>();
  if (b == nullptr) return "must be true or false";
  out = *b;
  return {};
}

std::string ConfigReader::from(const ConfigValue& v, double& out) {
  if (const auto* i = v.as<std::int64_t>()) {
    out = static_cast<double>(*i);
    return {};
  }
  const auto* d = v.as<double>();
  if (d == nullptr || !std::isfinite(*d)) return "must be a finite number";
  out = *d;
  return {};
}

std::string ConfigReader::from(const ConfigValue& v, std::string& out) {
  const auto* s = v.as<std::string>();
  if (s == nullptr) return "must be a string";
  out = *s;
  return {};
}

std::string ConfigReader::from_integer(const ConfigValue& v, std::int64_t low, std::uint64_t high,
                                       std::int64_t& out) {
  const auto* i = v.as<std::int64_t>();
  if (i == nullptr) return "must be an integer";
  if (*i < low)
    return low == 0 ? "must not be negative" : "must be at least " + std::to_string(low);
  if (*i > 0 && static_cast<std::uint64_t>(*i) > high)
    return "must be at most " + std::to_string(high);
  out = *i;
  return {};
}

std::string ConfigReader::not_a_string(const ConfigValue& v) {
  const bool number = v.as<std::int64_t>() || v.as<double>();
  return number ? "has no unit; " : "must be a string; ";
}

std::string ConfigReader::choice_index(const ConfigValue& v,
                                       std::span<const std::string_view> names,
                                       std::size_t& index) {
  const auto* s = v.as<std::string>();
  const auto it = s == nullptr ? names.end() : std::ranges::find(names, *s);
  if (it != names.end()) {
    index = static_cast<std::size_t>(it - names.begin());
    return {};
  }
  std::string rule = "must be one of ";
  for (const auto name : names) (rule += name == names.front() ? "\"" : ", \"").append(name) += '"';
  return s == nullptr ? rule : rule + suggestion(*s, names);
}

void ConfigReader::free_table(std::string_view key, ConfigTable& field) {
  const ConfigValue* v = take(key);
  if (v == nullptr) return;
  if (const auto* nested = v->as<ConfigTable>()) field = *nested;
  else fault(key, *v, "must be a table: [" + join_key(path_, key) + "]");
}

void ConfigReader::finish() {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [key, value] : table_.members)
    if (std::ranges::find(known, key) == known.end())
      issues_.push_back({join_key(path_, key), "unknown key" + suggestion(key, known)});
}

const ConfigValue* ConfigReader::take(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

const ConfigValue::Array* ConfigReader::take_tables(std::string_view key) {
  const ConfigValue* v = take(key);
  if (v == nullptr) return nullptr;
  const auto* array = v->as<ConfigValue::Array>();
  if (array != nullptr && (array->empty() || is_array_of_tables(*v))) return array;
  fault(key, *v, "must be an array of tables: [[" + join_key(path_, key) + "]]");
  return nullptr;
}

void ConfigReader::missing(std::string_view key) {
  issues_.push_back({join_key(path_, key), "is required"});
}

void ConfigReader::fault(std::string_view key, const ConfigValue& value, std::string_view rule) {
  issues_.push_back({join_key(path_, key), display(value) + ": " + std::string(rule)});
}

}  // namespace outrider
