#include "tools/lab/experiment/rack_matrix.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "common/config/text_file.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

std::string count_text(std::size_t n, const char* what) {
  return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

}  // namespace

RackMatrix parse_rack_matrix(std::string_view text, std::size_t racks, ConfigIssues& issues) {
  RackMatrix matrix;
  ConfigIssues found;
  tg::for_each_line(text, [&](std::size_t line, const auto& words) {
    if (found.has_more()) return;
    auto& row = matrix.emplace_back();
    if (words.size() != racks)
      found.push_back(tg::line_issue(line, "has " + count_text(words.size(), "number") +
                                               ", and the fabric " + count_text(racks, "rack")));
    for (const std::string_view word : words) {
      const std::optional<double> share = tg::number_of(word);
      if (!share || *share < 0)
        found.push_back(
            tg::line_issue(line, '"' + std::string(word) + "\" must be a number of at least 0"));
      row.push_back(share.value_or(0));
    }
  });
  if (!found.has_more() && matrix.size() != racks)
    found.push_back({"", "has " + count_text(matrix.size(), "line") + ", and the fabric " +
                             count_text(racks, "rack")});
  const auto is_zero = [](double share) { return share == 0; };
  if (found.empty() && std::ranges::all_of(matrix, [&](const auto& row) {
        return std::ranges::all_of(row, is_zero);
      }))
    found.push_back({"", "must have a number above 0"});
  issues.add(found);
  return found.empty() ? matrix : RackMatrix{};
}

RackMatrix load_rack_matrix(const std::string& path, std::size_t racks, ConfigIssues& issues) {
  const auto text = read_text_file(path, 1);
  issues.add(text.issues);
  return text ? parse_rack_matrix(*text.config, racks, issues) : RackMatrix{};
}

}  // namespace outrider::lab
