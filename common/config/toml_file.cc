#include "common/config/toml_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

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
  std::error_code ignored;  // if it cannot be examined, it cannot be opened either
  if (std::filesystem::is_directory(path, ignored)) return file_fault("is a directory, not a file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return file_fault(std::string("cannot be opened: ") + std::strerror(errno));
  std::string text;
  std::array<char, 1U << 16> chunk{};
  while (text.size() <= kMaxTomlBytes && (file.read(chunk.data(), chunk.size()), file.gcount() > 0))
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return file_fault(std::string("cannot be read: ") + std::strerror(errno));
  if (text.size() > kMaxTomlBytes)
    return file_fault("is larger than " + std::to_string(kMaxTomlBytes >> 20) + " MiB");
  return parse_toml(text);
}

}  // namespace outrider
