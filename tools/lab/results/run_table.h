#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/telemetry/record_cells.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Names a run in the first columns of a row.
struct RunName {
  std::size_t index;  ///< of its case
  const Case* definition;
  const char* run;  ///< "measured", or "alone": the same case without background
};

/// Takes the rows of a table, one after another.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// @param cells  one for each column; they refer to texts that live until this returns
  virtual void row(std::span<const Cell> cells) = 0;
};

/// Returns a value as a cell. A NaN is none, and so is an empty text.
template <class T>
Cell cell_of(const T& value) {
  if constexpr (std::is_same_v<T, Cell>) return value;
  else if constexpr (std::is_floating_point_v<T>) return std::isnan(value) ? Cell{} : Cell(value);
  else if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(value);
  else {
    const std::string_view text(value);
    return text.empty() ? Cell{} : Cell(text);
  }
}

/// Returns "SWITCH.PORT.QUEUE", by which rows of other tables name a queue.
inline std::string name_of(const sw::QueueReport& queue) {
  return queue.switch_name + '.' + queue.port_name + '.' + std::to_string(queue.queue);
}

/// Makes the rows of one run in a table, each of which begins with the columns of the run.
class RunRows {
 public:
  /// @param sink  outlives this
  RunRows(RowSink& sink, const RunName& name) : sink_(sink) {
    cells_ = {cell_of(name.index), cell_of(name.definition->label), cell_of(name.definition->seed),
              cell_of(name.run)};
    run_ = cells_.size();
  }
  /// Adds cells to the row.
  template <class... T>
  RunRows& add(const T&... values) {
    (cells_.push_back(cell_of(values)), ...);
    return *this;
  }
  /// Adds the cells of a record, which outlives the row. @param skip  its first cells that are not
  template <class R>
  RunRows& add_record(const R& record, std::size_t skip = 0) {
    const auto before = static_cast<std::ptrdiff_t>(cells_.size());
    append_cells(cells_, record);
    cells_.erase(cells_.begin() + before,
                 cells_.begin() + before + static_cast<std::ptrdiff_t>(skip));
    return *this;
  }
  RunRows& add_empty(std::size_t cells) {
    cells_.resize(cells_.size() + cells);
    return *this;
  }
  /// Ends the row.
  void end() {
    sink_.row(cells_);
    cells_.resize(run_);
  }

 private:
  RowSink& sink_;
  std::vector<Cell> cells_{};
  std::size_t run_ = 0;
};

/// A table of results, which has rows of every run. CSV files and results.sqlite are made of it.
/// Instants are nanoseconds of the clock that the column names; one that never came is an empty
/// cell.
struct RunTable {
  std::string_view name;                  ///< of the table in SQL; the file is NAME.csv
  std::string_view help;                  ///< what a row is, without a full stop
  std::vector<TableColumn> (*columns)();  ///< behind those of the run
  void (*rows)(RunRows& rows, Runtime runtime, const RunName& name, const RunResult& result);
  /// Says whether a run needs the table; nullptr: it is there without any run.
  bool (*wanted)(const Case& definition, const RunResult& result) = nullptr;
};

/// Returns all tables, in the order in which they are written.
std::span<const RunTable> run_tables();

/// Returns the columns of a table, with those of the run before them.
std::vector<TableColumn> all_columns(const RunTable& table);

/// Returns the columns of a record in a table: some names differ from those in the programs' own
/// files, where no other record stands beside it.
template <class R>
std::vector<TableColumn> columns_of_record() {
  constexpr struct {
    std::string_view own, column;
  } kRenamed[] = {{"retransmitted", "retransmitted_segments"},
                  {"first_at_ns", "queue_first_at_ns"},
                  {"last_at_ns", "queue_last_at_ns"},
                  {"start_packets_background", "start_background_packets"},
                  {"start_packets_ddl", "start_ddl_packets"},
                  {"start_packets_signal", "start_signal_packets"},
                  {"sojourn_ns", "sojourn_sum_ns"},
                  {"name", "flow"},
                  {"traffic_class", "class"}};
  auto columns = columns_of<R>();
  for (auto& column : columns)
    for (const auto& renamed : kRenamed)
      if (column.name == renamed.own) {
        column.name = renamed.column;
        break;
      }
  for (auto& column : columns)
    if (column.name.starts_with("times_")) column.name.erase(4, 1);  // a row has one of each
  return columns;
}

/// Writes a row for each record. They live as long as the rows.
template <class R>
void write_records(RunRows& rows, const std::vector<R>& records) {
  for (const auto& record : records) rows.add_record(record).end();
}

}  // namespace outrider::lab
