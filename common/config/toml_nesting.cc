#include "common/config/toml_nesting.h"

#include <vector>

namespace outrider {
namespace {

class NestingScan {
 public:
  explicit NestingScan(std::string_view text) : text_(text) {}

  std::optional<std::size_t> line_too_deep() {
    while (at_ < text_.size()) {
      take(text_[at_]);
      if (outer_ + dots_ > kMaxTomlNesting) return line_;
    }
    return std::nullopt;
  }

 private:
  void take(char c) {
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') return skip_comment();
    ++at_;
    switch (c) {
      case '\n':
        ++line_;
        if (open_.empty()) leave_key();
        break;
      case '.':
        ++dots_;
        break;
      case '=':  // the value lies below all parts of its key
        outer_ += dots_;
        key_dots_ += dots_;
        dots_ = 0;
        break;
      case '[':
      case '{':
        open_.push_back(key_dots_);
        outer_ += 1;
        key_dots_ = dots_ = 0;
        break;
      case ',':
        leave_key();
        break;
      case ']':
      case '}':
        close();
        break;
      default:
        break;
    }
  }

  void leave_key() {
    outer_ -= key_dots_;
    key_dots_ = dots_ = 0;
  }

  void close() {
    leave_key();
    if (open_.empty()) return;
    key_dots_ = open_.back();
    open_.pop_back();
    outer_ -= 1;
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  /// Of one line, or in three quotes of several.
  void skip_string(char quote) {
    const std::string_view three = quote == '"' ? R"(""")" : "'''";
    const bool many_lines = text_.substr(at_).starts_with(three);
    const std::size_t quotes = many_lines ? 3 : 1;
    for (at_ += quotes; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!many_lines) return;  // a syntax error, which the parser reports
        ++line_;
      } else if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (text_.substr(at_).starts_with(three.substr(0, quotes))) {
        at_ += quotes;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<std::size_t> open_;  ///< dots of the key before each open bracket
  std::size_t outer_ = 0;          ///< brackets, and dots of keys before a `=`, around here
  std::size_t key_dots_ = 0;       ///< of `outer_`: of the key whose value is read
  std::size_t dots_ = 0;           ///< since the last bracket, comma, `=` or end of a line
};

}  // namespace

std::optional<std::size_t> line_nested_too_deep(std::string_view text) {
  return NestingScan(text).line_too_deep();
}

}  // namespace outrider
