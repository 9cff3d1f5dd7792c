#pragma once

#include <string>
#include <string_view>

namespace outrider {

/// Returns text for HTML and XML 1.0, between tags or in a quoted attribute. Control characters,
/// which XML has no place for, become spaces.
inline std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace outrider
