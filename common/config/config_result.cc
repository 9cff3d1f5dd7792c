#include "common/config/config_result.h"

#include "common/core/shortened.h"

namespace outrider {
namespace {

std::string shown(const std::string& text) { return shortened(text, kShownProblem_bytes); }

}  // namespace

std::string format_issues(std::string_view file, const ConfigIssues& issues) {
  if (issues.empty()) return {};
  std::string out(file);
  if (issues.size() == 1 && issues[0].key.empty())
    return out + ": " + shown(issues[0].problem) + '\n';
  out += issues.has_more() ? ": more than " : ": ";
  out += std::to_string(issues.size()) +
         (issues.size() == 1 ? " invalid setting\n" : " invalid settings\n");
  for (const auto& issue : issues)
    out += "  " + shown(issue.key) + (issue.key.empty() ? "" : ": ") + shown(issue.problem) + '\n';
  if (issues.has_more()) out += "  and more\n";
  return out;
}

std::string format_advice(std::string_view file, const ConfigIssues& advice) {
  std::string text;
  for (const auto& a : advice)
    text += std::string(file) + ": warning: " + a.key + ": " + a.problem + '\n';
  if (advice.has_more()) text += std::string(file) + ": warning: and more\n";
  return text;
}

}  // namespace outrider
