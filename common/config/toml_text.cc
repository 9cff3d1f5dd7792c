#include "common/config/toml_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace outrider {
namespace {

constexpr std::size_t kColumns = 100;

std::string in_quotes(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (byte < 0x20 || byte == 0x7F) ((out += "\\u00") += kHex[byte >> 4]) += kHex[byte & 0xF];
    else out += c;
  }
  return out += '"';
}

std::string key_text(std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? std::string(key) : in_quotes(key);
}

/// Returns the shortest text that reads back as a double of the same value.
std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.begin(), buffer.end(), v).ptr;
  std::string text(buffer.begin(), end);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string inline_array(const ConfigValue::Array& array) {
  std::string out;
  for (const auto& element : array) out += (out.empty() ? "" : ", ") + to_toml_text(element);
  return '[' + out + ']';
}

std::string inline_table(const ConfigTable& table) {
  std::string out;
  for (const auto& [key, value] : table.members)
    out += (out.empty() ? "" : ", ") + key_text(key) + " = " + to_toml_text(value);
  return out.empty() ? "{}" : "{ " + out + " }";
}

/// Writes `key = value`; an array that does not fit a line gets one line per element.
void append_setting(std::string& out, const std::string& key, const ConfigValue& value) {
  std::string text = to_toml_text(value);
  const auto* array = value.as<ConfigValue::Array>();
  if (array != nullptr && key.size() + 3 + text.size() > kColumns) {
    text = "[\n";
    for (const auto& element : *array) text += "  " + to_toml_text(element) + ",\n";
    text += ']';
  }
  out += key + " = " + text + '\n';
}

void append_header(std::string& out, const std::string& header) {
  if (!out.empty()) out += '\n';
  out += header + '\n';
}

void append_table(std::string& out, const std::string& path, const ConfigTable& table) {
  const auto below = [&path](const std::string& key) {
    return path.empty() ? key_text(key) : path + '.' + key_text(key);
  };
  for (const auto& [key, value] : table.members) {
    if (value.as<ConfigTable>() == nullptr && !is_array_of_tables(value))
      append_setting(out, key_text(key), value);
  }
  for (const auto& [key, value] : table.members) {
    if (const auto* child = value.as<ConfigTable>()) {
      append_header(out, '[' + below(key) + ']');
      append_table(out, below(key), *child);
    }
  }
  for (const auto& [key, value] : table.members) {
    if (!is_array_of_tables(value)) continue;
    for (const auto& element : *value.as<ConfigValue::Array>()) {
      append_header(out, "[[" + below(key) + "]]");
      append_table(out, below(key), *element.as<ConfigTable>());
    }
  }
}

}  // namespace

std::string to_toml_text(const ConfigValue& value) {
  struct {
    std::string operator()(const ConfigValue::Unsupported&) const { return "\"\""; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v); }
    std::string operator()(const std::string& v) const { return in_quotes(v); }
    std::string operator()(const ConfigValue::Array& v) const { return inline_array(v); }
    std::string operator()(const ConfigTable& v) const { return inline_table(v); }
  } const text;
  return std::visit(text, value.data);
}

std::string to_toml_text(const ConfigTable& table) {
  std::string out;
  append_table(out, "", table);
  return out;
}

}  // namespace outrider
