#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/lab/report/report_data.h"

namespace outrider::lab {

/// Returns the library that draws the charts, JavaScript of D3 3.5. It is inside the program; see
/// docs/decisions/013-d3-draws-the-report.md.
std::string_view chart_library();

/// Returns a self-contained page of HTML with the data, the chart library and the page's program.
/// Pure. Texts of `data` are shown as text, whatever characters they contain.
std::string report_html(const ReportJson& data, std::string_view library = chart_library());

/// Writes DIRECTORY/report.html from the other files of the bundle. The same files give the same
/// bytes.
/// @throws std::runtime_error naming a file that cannot be read or written and the cause
void write_report(const std::filesystem::path& directory);

}  // namespace outrider::lab
