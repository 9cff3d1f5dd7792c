#include "trafficgen/import/text_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace outrider::tg {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

template <class T>
std::optional<T> parsed(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

void for_each_line(
    std::string_view text,
    const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto words = words_of(text.substr(0, end)); !words.empty()) take(line, words);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string_view> comma_fields(const std::vector<std::string_view>& words) {
  std::vector<std::string_view> fields;
  std::string_view rest(words.front().data(),
                        static_cast<std::size_t>(words.back().end() - words.front().begin()));
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view field = rest.substr(0, comma);
    field.remove_prefix(std::min(field.find_first_not_of(kBlanks), field.size()));
    field.remove_suffix(field.size() - (field.find_last_not_of(kBlanks) + 1));
    fields.push_back(field);
    if (comma == rest.size()) return fields;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<double> number_of(std::string_view word) {
  const auto value = parsed<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint64_t> whole_number_of(std::string_view word) {
  return parsed<std::uint64_t>(word);
}

ConfigIssue line_issue(std::size_t line, const std::string& rule) {
  return {"line " + std::to_string(line), rule};
}

}  // namespace outrider::tg
