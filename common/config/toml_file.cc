#include "common/config/toml_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/config/text_file.h"
#include "common/config/toml_nesting.h"

namespace outrider {
namespace {

ConfigTable convert(const toml::table& table);

ConfigValue convert(const toml::node& node) {
  if (const auto* v = node.as_boolean()) return ConfigValue(v->get());
  if (const auto* v = node.as_integer()) return ConfigValue(v->get());
  if (const auto* v = node.as_floating_point()) return ConfigValue(v->get());
  if (const auto* v = node.as_string()) return ConfigValue(v->get());
  if (const auto* v = node.as_table()) return ConfigValue(convert(*v));
  if (const auto* v = node.as_array()) {
    ConfigValue::Array array;
    array.reserve(v->size());
    for (const auto& element : *v) array.push_back(convert(element));
    return ConfigValue(std::move(array));
  }
  return {};
}

/// Restores the order of the file, because toml++ sorts the keys of a table.
ConfigTable convert(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> nodes;
  nodes.reserve(table.size());
  for (const auto& [key, node] : table) nodes.emplace_back(&key, &node);
  std::ranges::stable_sort(nodes, [](const auto& a, const auto& b) {
    const auto& x = a.first->source().begin;
    const auto& y = b.first->source().begin;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  ConfigTable converted;
  converted.members.reserve(nodes.size());
  for (const auto& [key, node] : nodes)
    converted.members.push_back({std::string(key->str()), convert(*node)});
  return converted;
}

ConfigResult<ConfigTable> file_fault(std::string problem) {
  return {{}, {{"", std::move(problem)}}};
}

}  // namespace

ConfigResult<ConfigTable> parse_toml(std::string_view text) {
  if (const auto line = line_nested_too_deep(text))
    return file_fault("line " + std::to_string(*line) +
                      ": tables, arrays and dotted keys are nested deeper than " +
                      std::to_string(kMaxTomlNesting) + " levels");
  try {
    return {convert(toml::parse(text)), {}};
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    return file_fault("line " + std::to_string(at.line) + ", column " + std::to_string(at.column) +
                      ": " + std::string(e.description()));
  }
}

ConfigResult<ConfigTable> read_toml_file(const std::string& path) {
  auto text = read_text_file(path, kMaxTomlMib);
  if (!text) return {{}, std::move(text.issues)};
  return parse_toml(*text.config);
}

}  // namespace outrider
