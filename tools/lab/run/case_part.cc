#include "tools/lab/run/case_part.h"

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace outrider::lab {
namespace {

/// @return whether all of the text is a whole number
bool read_number(std::string_view text, std::size_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

CasePart case_part_from(const std::string& text) {
  const std::string_view all = text;
  const auto slash = all.find('/');
  CasePart part;
  if (slash == std::string_view::npos || !read_number(all.substr(0, slash), part.number) ||
      !read_number(all.substr(slash + 1), part.of))
    throw std::invalid_argument(text + ": must be I/N, which is part I of N, as 3/20");
  if (part.number < 1 || part.number > part.of)
    throw std::invalid_argument(text + ": I must be from 1 to N, and N at least 1");
  return part;
}

std::string to_text(const CasePart& part) {
  return std::to_string(part.number) + '/' + std::to_string(part.of);
}

std::vector<std::size_t> cases_of(const CasePart& part, std::size_t cases) {
  std::vector<std::size_t> own;
  for (std::size_t i = part.number - 1; i < cases; i += part.of) own.push_back(i);
  return own;
}

}  // namespace outrider::lab
