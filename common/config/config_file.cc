#include "common/config/config_file.h"

#include <algorithm>
#include <string_view>

namespace outrider {
namespace {

/// Returns whether `key` is the key `at` itself or below it.
bool covers(std::string_view at, std::string_view key) {
  return key.starts_with(at) &&
         (key.size() == at.size() || key[at.size()] == '.' || key[at.size()] == '[');
}

}  // namespace

void merge_issues(ConfigIssues& into, const ConfigIssues& more) {
  const auto end = static_cast<std::ptrdiff_t>(into.size());
  for (const auto& issue : more) {
    const auto known = into.begin() + end;
    const bool reported = std::any_of(
        into.begin(), known, [&issue](const ConfigIssue& i) { return covers(issue.key, i.key); });
    if (!reported) into.push_back(issue);
  }
}

}  // namespace outrider
