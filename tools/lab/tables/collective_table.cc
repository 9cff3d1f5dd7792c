#include "tools/lab/tables/collective_table.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/table_lines.h"

namespace outrider::lab {
namespace {

constexpr double kMicro = 1e6;           ///< [s] to [us]
constexpr double kGigaBytes = 1e-9 / 8;  ///< [bit/s] to [GB/s]

std::vector<GridColumn> collective_columns(TableForm form) {
  const auto word = [](const char* heading) {
    return GridColumn{.heading = heading, .cells = GridCells::kWord};
  };
  if (form == TableForm::kCsv)
    return {word("job"),
            word("collective"),
            {"ranks"},
            {"size_bytes"},
            {"communication_seconds_median"},
            {"algbw_bits_per_second_median"},
            {"busbw_bits_per_second_median"}};
  return {word("job"),       word("collective"),
          {"ranks"},         {"size", "B"},
          {"time", "us"},    {"algbw", "GB/s"},
          {"busbw", "GB/s"}, {"busbw", std::string(shown_in(Unit::kBitsPerSecond).unit)}};
}

std::vector<std::string> collective_cells(const CollectiveSummary& c, TableForm form) {
  std::vector<std::string> cells{c.job, c.collective, std::to_string(c.ranks)};
  const bool csv = form == TableForm::kCsv;
  cells.push_back(!std::isnan(c.size_bytes) ? std::to_string(std::llround(c.size_bytes))
                  : csv                     ? ""
                                            : "-");
  if (csv) {
    for (const double v : {c.seconds, c.algbw_bits_per_second, c.busbw_bits_per_second})
      cells.push_back(csv_number(v));
    return cells;
  }
  for (const double v : {c.seconds * kMicro, c.algbw_bits_per_second * kGigaBytes,
                         c.busbw_bits_per_second * kGigaBytes,
                         c.busbw_bits_per_second * shown_in(Unit::kBitsPerSecond).scale})
    cells.push_back(shown(v));
  return cells;
}

}  // namespace

std::string collective_table(const Results& results, const TableRequest& request,
                             std::size_t most) {
  const std::vector<TableLine> lines = lines_of(results, request);
  const Grid heads = grid_of_lines(lines, request.form);
  Grid grid{.columns = heads.columns};
  std::ranges::copy(collective_columns(request.form), std::back_inserter(grid.columns));
  std::size_t found = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (const CollectiveSummary& c : lines[i].arm->collectives) {
      if (++found > most) continue;
      auto& row = grid.rows.emplace_back(heads.rows[i]);
      std::ranges::copy(collective_cells(c, request.form), std::back_inserter(row));
    }
  if (found == 0) return "";
  return text_of(grid, request.form) +
         (found > most ? "and " + std::to_string(found - most) + " more\n" : "");
}

}  // namespace outrider::lab
