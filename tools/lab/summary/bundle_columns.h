#pragma once

#include <algorithm>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/telemetry/csv_fields.h"
#include "tools/lab/summary/bundle_csv.h"

namespace outrider::lab {

// The columns of a bundle's tables follow from the rows of the records that are written.

using Cells = std::vector<std::string>;

inline constexpr std::string_view kRunColumns = "case,label,seed,run";

inline std::ostream& operator<<(std::ostream& out, const RunName& name) {
  return out << name.index << ',' << csv_text(name.definition->label) << ','
             << name.definition->seed << ',' << name.run;
}

/// A column whose name differs from that in the programs' own files.
struct RenamedColumn {
  std::string_view row;
  std::string_view column;
};

inline constexpr RenamedColumn kRenamed[] = {
    {"retransmitted", "retransmitted_segments"},
    {"first_at_ns", "queue_first_at_ns"},
    {"last_at_ns", "queue_last_at_ns"},
    {"start_packets_background", "start_background_packets"},
    {"start_packets_ddl", "start_ddl_packets"},
    {"start_packets_signal", "start_signal_packets"},
    {"sojourn_ns", "sojourn_sum_ns"},
    {"name", "flow"},
    {"traffic_class", "class"}};

template <class R>
Cells cells_of(const R& record) {
  CsvFieldWriter writer;
  fields(writer, record);
  return writer.cells();
}

template <class R>
Cells columns_of() {
  const R none{};
  CsvFieldWriter writer;
  fields(writer, none);
  Cells columns = writer.names();
  for (auto& column : columns)
    if (const auto* it = std::ranges::find(kRenamed, column, &RenamedColumn::row);
        it != std::ranges::end(kRenamed))
      column = it->column;
  return columns;
}

inline void put_cells(std::ostream& out, std::span<const std::string> cells) {
  for (const auto& cell : cells) out << ',' << cell;
}

/// Returns the first line of a table of these records.
template <class R>
std::string head_of() {
  std::ostringstream out;
  out << kRunColumns;
  put_cells(out, columns_of<R>());
  out << '\n';
  return out.str();
}

template <class R>
void write_records(std::ostream& out, const RunName& name, const std::vector<R>& records) {
  for (const auto& record : records) {
    out << name;
    put_cells(out, cells_of(record));
    out << '\n';
  }
}

}  // namespace outrider::lab
