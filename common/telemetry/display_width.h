#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace outrider {

/// Takes the first character of a text in UTF-8 off it. A byte that begins none is a character of
/// its own. @pre the text is not empty
char32_t take_character(std::string_view& text) noexcept;

/// Returns whether a character shows nothing itself and changes what is around it: a control
/// character, a separator of lines, or a mark that overrides the direction of writing.
bool is_control_character(char32_t c) noexcept;

/// Returns the columns of a terminal that a text takes. Characters of East Asia take two, accents
/// and marks that join others none.
std::size_t display_width(std::string_view text) noexcept;

/// Returns the text with blanks behind it up to `width` columns. Behind writing from right to left
/// stands a mark that keeps figures of the line in their places.
std::string padded_to(std::string_view text, std::size_t width);

}  // namespace outrider
