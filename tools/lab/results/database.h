#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/results/part_file.h"
#include "tools/lab/results/run_table.h"

struct sqlite3;

namespace outrider::lab {

/// Version of the tables, raised when one or a column is renamed, removed or changes meaning.
/// `PRAGMA user_version` gives that of a file.
inline constexpr int kTablesVersion = 1;

/// Writes results.sqlite: one file with all tables of some results, for SQL. It is a product of the
/// results and can be made again at any time. It is written under another name and renamed when it
/// is whole, so that nobody ever opens half of it, and equal results give equal bytes. No journal
/// is left beside it.
///
/// One process, one thread.
class Database {
 public:
  /// @throws std::runtime_error naming the file and the cause, as all functions
  explicit Database(std::filesystem::path path);
  ~Database();

  /// Adds a table, and what it and its columns are to the tables `tables` and `columns`.
  /// @return what takes its rows; lives as long as this
  RowSink& add_table(std::string_view name, std::string_view help,
                     std::span<const TableColumn> columns);

  /// Gives the file its name. No rows can be added then.
  void finish();

 private:
  class Table;

  void execute(const std::string& sql);
  [[noreturn]] void fail() const;

  PartialPath path_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> db_;
  std::vector<std::unique_ptr<Table>> tables_{};  // end before the connection
};

}  // namespace outrider::lab
