#include "tools/doctor/report.h"

#include <array>
#include <nlohmann/json.hpp>

#include "common/machine/machine_check.h"
#include "common/telemetry/exit_status.h"

namespace outrider {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 17;  // "  [note] effect: "

std::string tag(Severity severity, bool colour) {
  constexpr std::string_view kColours[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};
  const std::string word(name_of(severity));
  const std::string padding(4 - word.size(), ' ');
  if (!colour) return "[" + word + "]" + padding;
  return "[" + std::string(kColours[static_cast<std::size_t>(severity)]) + word + "\033[0m]" +
         padding;
}

/// Wraps the text to lines of kColumns; lines after the first are indented by kIndent.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = kIndent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column != kIndent && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column != kIndent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string last_line(const Findings& findings) {
  std::array<std::size_t, 4> count{};
  for (const Finding& finding : findings) ++count[static_cast<std::size_t>(finding.severity)];
  return "\n" + std::to_string(count[0]) + " ok, " + counted(count[1], "note", "notes") + ", " +
         counted(count[2], "warning", "warnings") + ", " +
         counted(count[3], "failure", "failures") + ".\n" +
         (count[0] == findings.size() ? "" : "What mends the machine needs root, mostly.\n");
}

}  // namespace

std::string findings_text(const Findings& findings, bool colour) {
  std::string text;
  std::string_view group;
  for (const Finding& finding : findings) {
    if (group != group_of(finding)) {
      group = group_of(finding);
      text += (text.empty() ? "" : "\n") + std::string(group) + "\n";
    }
    const std::string name = finding.check.substr(std::min(group.size() + 1, finding.check.size()));
    text += "  " + tag(finding.severity, colour) + " " + name + ": " + finding.cause + "\n";
    const std::string space(9, ' ');
    if (!finding.effect.empty()) text += space + "effect: " + wrapped(finding.effect) + "\n";
    // Not wrapped, so that the command can be copied.
    if (!finding.remedy.empty()) text += space + "mend:   " + finding.remedy + "\n";
  }
  return text + last_line(findings);
}

std::string findings_json(const Findings& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    list.push_back({{"check", finding.check},
                    {"severity", name_of(finding.severity)},
                    {"cause", finding.cause},
                    {"effect", finding.effect},
                    {"remedy", finding.remedy}});
  const nlohmann::ordered_json document{{"schema_version", 1},
                                        {"worst", name_of(worst_of(findings))},
                                        {"exit_status", exit_status_of(findings)},
                                        {"findings", std::move(list)}};
  // File names and the kernel's texts may be no valid UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int exit_status_of(const Findings& findings) noexcept {
  return worst_of(findings) >= Severity::kWarn ? kExitFailure : kExitOk;
}

}  // namespace outrider
