#pragma once

#include <string>
#include <string_view>

namespace outrider::lab {

/// Returns text for XML and HTML, between tags or in an attribute.
std::string in_markup(std::string_view text);

/// Returns a table of Markdown, as column_table() writes it, as one of HTML. Other lines are
/// paragraphs.
std::string table_in_html(const std::string& markdown);

}  // namespace outrider::lab
