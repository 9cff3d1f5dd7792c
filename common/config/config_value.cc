#include "common/config/config_value.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/config/toml_text.h"
#include "common/core/shortened.h"

namespace outrider {
namespace {

struct PathStep {
  std::string_view key;
  std::optional<std::size_t> index;
  std::string_view rest;
};

/// Splits "switch[0].queue" into "switch", 0 and "queue".
std::optional<PathStep> first_step(std::string_view path) noexcept {
  PathStep step;
  const auto dot = path.find('.');
  step.key = path.substr(0, dot);
  if (dot != path.npos) {
    step.rest = path.substr(dot + 1);
    if (step.rest.empty()) return std::nullopt;
  }
  const auto bracket = step.key.find('[');
  if (bracket != step.key.npos) {
    const auto digits = step.key.substr(bracket + 1);
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
    if (error != std::errc{} || std::string_view(end, digits.end()) != "]") return std::nullopt;
    step.index = index;
    step.key = step.key.substr(0, bracket);
  }
  if (step.key.empty()) return std::nullopt;
  return step;
}

/// Follows the index of a step. @return nullptr if there is no such element
template <class Value>
Value* indexed(Value* value, std::optional<std::size_t> index) noexcept {
  if (value == nullptr || !index) return value;
  auto* array = value->template as<ConfigValue::Array>();
  return array != nullptr && *index < array->size() ? &(*array)[*index] : nullptr;
}

/// Returns whether `path` can be assigned below `root`; changes nothing.
bool is_assignable(const ConfigTable& root, std::string_view path) noexcept {
  const auto step = first_step(path);
  if (!step) return false;
  const ConfigValue* member = root.get(step->key);
  if (member == nullptr && step->index) return false;
  if (member == nullptr) {  // everything below is created: only the syntax counts
    return step->rest.empty() || is_assignable(ConfigTable{}, step->rest);
  }
  const ConfigValue* target = indexed(member, step->index);
  if (target == nullptr) return false;
  if (step->rest.empty()) return true;
  const auto* table = target->as<ConfigTable>();
  return table != nullptr && is_assignable(*table, step->rest);
}

}  // namespace

ConfigTable::ConfigTable() = default;
ConfigTable::ConfigTable(const ConfigTable&) = default;
ConfigTable::ConfigTable(ConfigTable&&) noexcept = default;
ConfigTable& ConfigTable::operator=(const ConfigTable&) = default;
ConfigTable& ConfigTable::operator=(ConfigTable&&) noexcept = default;
ConfigTable::~ConfigTable() = default;

bool ConfigTable::operator==(const ConfigTable& other) const { return members == other.members; }

const ConfigValue* ConfigTable::get(std::string_view key) const noexcept {
  const auto it = std::ranges::find(members, key, &ConfigMember::key);
  return it == members.end() ? nullptr : &it->value;
}

ConfigValue& ConfigTable::operator[](std::string_view key) {
  const auto it = std::ranges::find(members, key, &ConfigMember::key);
  if (it != members.end()) return it->value;
  return members.emplace_back(ConfigMember{std::string(key), {}}).value;
}

bool is_array_of_tables(const ConfigValue& value) noexcept {
  const auto* array = value.as<ConfigValue::Array>();
  return array != nullptr && !array->empty() &&
         std::ranges::all_of(*array,
                             [](const ConfigValue& v) { return v.as<ConfigTable>() != nullptr; });
}

std::string display(const ConfigValue& value) {
  if (value.as<ConfigValue::Unsupported>()) return "a date or time";
  if (value.as<ConfigValue::Array>()) return "an array";
  if (value.as<ConfigTable>()) return "a table";
  if (const auto* text = value.as<std::string>())
    return to_toml_text(ConfigValue(shortened(*text, kShownValue_bytes)));
  return to_toml_text(value);
}

std::string join_key(std::string_view path, std::string_view key) {
  std::string joined(path);
  if (!joined.empty()) joined += '.';
  return joined.append(key);
}

std::string join_key(std::string_view path, std::string_view key, std::size_t index) {
  return join_key(path, key) + '[' + std::to_string(index) + ']';
}

const ConfigValue* find(const ConfigTable& root, std::string_view path) noexcept {
  const auto step = first_step(path);
  if (!step) return nullptr;
  const ConfigValue* value = indexed(root.get(step->key), step->index);
  if (value == nullptr || step->rest.empty()) return value;
  const auto* table = value->as<ConfigTable>();
  return table == nullptr ? nullptr : find(*table, step->rest);
}

bool assign(ConfigTable& root, std::string_view path, ConfigValue value) {
  if (!is_assignable(root, path)) return false;
  ConfigTable* table = &root;
  for (auto step = first_step(path);; step = first_step(step->rest)) {
    ConfigValue* target = indexed(&(*table)[step->key], step->index);
    if (step->rest.empty()) {
      *target = std::move(value);
      return true;
    }
    if (target->as<ConfigValue::Unsupported>()) *target = ConfigValue(ConfigTable{});
    table = target->as<ConfigTable>();
  }
}

}  // namespace outrider
