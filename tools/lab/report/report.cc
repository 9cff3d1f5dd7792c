#include "tools/lab/report/report.h"

#include <stdexcept>
#include <string_view>

#include "common/telemetry/whole_file.h"

namespace outrider::lab {

extern const std::string_view kEmbeddedReportHtml;
extern const std::string_view kEmbeddedReportCss;
extern const std::string_view kEmbeddedPlotJs;
extern const std::string_view kEmbeddedTermsJs;
extern const std::string_view kEmbeddedChartJs;
extern const std::string_view kEmbeddedFiguresJs;
extern const std::string_view kEmbeddedTablesJs;
extern const std::string_view kEmbeddedFabricJs;
extern const std::string_view kEmbeddedJobsJs;
extern const std::string_view kEmbeddedHostsJs;
extern const std::string_view kEmbeddedRoceJs;
extern const std::string_view kEmbeddedGroupsJs;
extern const std::string_view kEmbeddedPageJs;
extern const std::string_view kEmbeddedGlossaryMd;  // docs/glossary.md
extern const std::string_view kEmbeddedD3MinJs;
extern const std::string_view kEmbeddedD3LicenceTxt;

namespace fs = std::filesystem;

namespace {

/// Returns JSON for a <script> element. It has no "<", so it cannot end the element or begin
/// another.
std::string json_for_html(const ReportJson& data) {
  const std::string plain = data.dump(-1, ' ', false, ReportJson::error_handler_t::replace);
  std::string out;
  out.reserve(plain.size());
  for (const char c : plain)
    if (c == '<') out += "\\u003c";
    else out += c;
  return out;
}

/// Returns `text` escaped for use in an element.
std::string text_for_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else out += c;
  }
  return out;
}

/// Returns a program for a <script> element. In its strings "<\/script" replaces "</script", which
/// means the same.
std::string program_for_html(std::string_view program) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = program.find("</", at)) != std::string_view::npos; at = end + 2)
    out.append(program.substr(at, end - at)).append("<\\/");
  return out.append(program.substr(at));
}

}  // namespace

std::string_view chart_library() { return kEmbeddedD3MinJs; }

std::string report_html(const ReportJson& data, std::string_view library) {
  std::string experiment = data.value("experiment", "");
  const std::pair<std::string_view, std::string> parts[] = {
      {"title", text_for_html(experiment)},
      {"css", std::string(kEmbeddedReportCss)},
      {"licence", std::string(kEmbeddedD3LicenceTxt)},
      {"library", program_for_html(library)},
      {"data", json_for_html(data)},
      {"glossary", json_for_html(kEmbeddedGlossaryMd)},
      {"program", program_for_html(kEmbeddedPlotJs) + program_for_html(kEmbeddedTermsJs) +
                      program_for_html(kEmbeddedChartJs) + program_for_html(kEmbeddedFiguresJs) +
                      program_for_html(kEmbeddedTablesJs) + program_for_html(kEmbeddedFabricJs) +
                      program_for_html(kEmbeddedJobsJs) + program_for_html(kEmbeddedHostsJs) +
                      program_for_html(kEmbeddedRoceJs) + program_for_html(kEmbeddedGroupsJs) +
                      program_for_html(kEmbeddedPageJs)}};
  std::string out;
  std::string_view rest = kEmbeddedReportHtml;
  // The order of the template, so that the content of a part is never searched for another's name.
  for (const auto& [name, content] : parts) {
    const std::string mark = "@" + std::string(name) + "@";
    const std::size_t at = rest.find(mark);
    if (at == std::string_view::npos) throw std::logic_error("report.html has no " + mark);
    out.append(rest.substr(0, at)).append(content);
    rest.remove_prefix(at + mark.size());
  }
  return out.append(rest);
}

void write_report(const fs::path& directory) {
  write_whole_file(directory / "report.html", report_html(report_data(directory)));
}

}  // namespace outrider::lab
