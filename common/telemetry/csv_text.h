#pragma once

#include <string>

namespace outrider {

/// RFC 4180: quoted, quotes doubled, if it holds anything that separates.
inline std::string csv_text(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace outrider
