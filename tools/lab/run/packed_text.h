#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace outrider::lab {

/// Returns the text in gzip's form.
std::string packed_text(std::string_view text);

/// Returns the text of packed_text(); nothing if it was cut short or changed.
std::optional<std::string> unpacked_text(std::string_view packed);

}  // namespace outrider::lab
