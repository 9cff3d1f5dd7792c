#pragma once

#include <filesystem>
#include <string>

#include "tools/lab/report/report_data.h"

namespace outrider::lab {

/// The library that draws the charts; see docs/decisions/013-d3-draws-the-report.md.
inline constexpr const char* kChartLibraryPath = "/usr/share/javascript/d3/d3.min.js";
inline constexpr const char* kChartLibraryPackage = "libjs-d3";

/// Returns a self-contained page of HTML with the data, the chart library and the page's program.
/// Pure. Texts of `data` are shown as text, whatever characters they contain.
/// @param library  JavaScript of D3, version 3
std::string report_html(const ReportJson& data, const std::string& library);

/// Writes DIRECTORY/report.html from the other files of the bundle. The same files and library
/// give the same bytes.
/// @return empty, or why there is no report: the chart library is not at `library`
/// @throws std::runtime_error naming a file that cannot be read or written and the cause
std::string write_report(const std::filesystem::path& directory,
                         const std::filesystem::path& library = kChartLibraryPath);

}  // namespace outrider::lab
