#pragma once

#include <string>

namespace outrider {

/// Returns a cell as of RFC 4180: if it contains separators, quoted with its quotes doubled.
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace outrider
