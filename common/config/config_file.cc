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
  const ConfigIssues known = into;
  for (const auto& issue : more)
    if (std::ranges::none_of(known,
                             [&issue](const ConfigIssue& i) { return covers(issue.key, i.key); }))
      into.push_back(issue);
  into.count_unkept(more);
}

}  // namespace outrider
