#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/config_issue.h"

namespace outrider::tg {

/// Calls `take(line number from 1, words)` for every line that has words. A `#` begins a comment.
void for_each_line(
    std::string_view text,
    const std::function<void(std::size_t, const std::vector<std::string_view>&)>& take);

/// Returns the fields between commas, without blanks at their ends. @param words of one line, in
/// order, as for_each_line() gives them
std::vector<std::string_view> comma_fields(const std::vector<std::string_view>& words);

/// Returns the whole word as a finite number, or nothing.
std::optional<double> number_of(std::string_view word);
/// Returns the whole word as a whole number, or nothing.
std::optional<std::uint64_t> whole_number_of(std::string_view word);

ConfigIssue line_issue(std::size_t line, const std::string& rule);

/// Largest file that is imported [MiB]: six million flows of a list.
inline constexpr std::uint32_t kMaxImportMib = 256;

}  // namespace outrider::tg
