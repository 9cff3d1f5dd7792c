#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace outrider {

/// What a message shows of a value, and of a whole problem or key. A file may hold any size.
inline constexpr std::size_t kShownValue_bytes = 120;
inline constexpr std::size_t kShownProblem_bytes = 2000;

/// Returns a text that is at most a little longer than `limit` bytes: its beginning, and how long
/// it was. Characters of UTF-8 stay whole.
std::string shortened(std::string_view text, std::size_t limit);

}  // namespace outrider
