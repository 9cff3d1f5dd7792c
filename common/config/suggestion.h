#pragma once

#include <span>
#include <string>
#include <string_view>

namespace outrider {

/// @return `; did you mean "x"?` for the candidate that is a few typing errors
///         away from `word` (one per three letters, at least one), otherwise empty.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace outrider
