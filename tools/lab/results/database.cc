#include "tools/lab/results/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace outrider::lab {

namespace {

/// @pre `name` has no quote: names of tables and columns are ours
std::string in_quotes(std::string_view name) { return '"' + std::string(name) + '"'; }

const char* type_of(CellKind kind) {
  switch (kind) {
    case CellKind::kInteger:
      return " INTEGER";
    case CellKind::kReal:
      return " REAL";
    case CellKind::kText:
      return " TEXT";
    case CellKind::kAny:
      break;
  }
  return "";
}

const char* name_of(CellKind kind) {
  constexpr const char* kNames[]{"integer", "real", "text", "any"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Tables that describe the others.

std::vector<TableColumn> columns_of_tables() {
  return {{"table_name", CellKind::kText}, {"help", CellKind::kText, "what a row is"}};
}

std::vector<TableColumn> columns_of_columns() {
  return {{"table_name", CellKind::kText},
          {"column_name", CellKind::kText, "its end is the unit"},
          {"kind", CellKind::kText, "integer, real, text, or any of them"},
          {"help", CellKind::kText, "empty: the name says it"}};
}

}  // namespace

class Database::Table : public RowSink {
 public:
  Table(Database& of, std::string_view name, std::span<const TableColumn> columns) : of_(of) {
    std::string names, values;
    for (const TableColumn& column : columns) {
      const char* comma = names.empty() ? "" : ", ";
      names += comma + in_quotes(column.name) + type_of(column.kind);
      values += std::string(comma) + '?';
    }
    of_.execute("CREATE TABLE " + in_quotes(name) + " (" + names + ")");
    const std::string insert = "INSERT INTO " + in_quotes(name) + " VALUES (" + values + ")";
    if (sqlite3_prepare_v2(of_.db_.get(), insert.c_str(), -1, &insert_, nullptr) != SQLITE_OK)
      of_.fail();
  }
  ~Table() override { sqlite3_finalize(insert_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void row(std::span<const Cell> cells) override {
    int at = 0;
    for (const Cell& cell : cells) bind(++at, cell);
    const bool done = sqlite3_step(insert_) == SQLITE_DONE;
    if (sqlite3_reset(insert_) != SQLITE_OK || !done) of_.fail();
  }

 private:
  void bind(int at, const Cell& cell) {
    int status = SQLITE_OK;
    if (const auto* i = std::get_if<std::int64_t>(&cell))
      status = sqlite3_bind_int64(insert_, at, *i);
    else if (const auto* d = std::get_if<double>(&cell))
      status = sqlite3_bind_double(insert_, at, *d);
    else if (const auto* s = std::get_if<std::string_view>(&cell))
      status = sqlite3_bind_text(insert_, at, s->data(), static_cast<int>(s->size()),
                                 SQLITE_STATIC);  // the text lives until the row is in
    else status = sqlite3_bind_null(insert_, at);
    if (status != SQLITE_OK) of_.fail();
  }

  Database& of_;
  sqlite3_stmt* insert_ = nullptr;
};

Database::Database(std::filesystem::path path)
    : path_(std::move(path)), db_(nullptr, sqlite3_close) {
  sqlite3* db = nullptr;
  const int status = sqlite3_open(path_.partial().c_str(), &db);
  db_.reset(db);
  if (status != SQLITE_OK) fail();
  // Nobody reads the partial file: a crash leaves nothing to roll back.
  execute("PRAGMA journal_mode = OFF");
  execute("PRAGMA synchronous = OFF");
  execute("PRAGMA user_version = " + std::to_string(kTablesVersion));
  execute("BEGIN");
  tables_.push_back(std::make_unique<Table>(*this, "tables", columns_of_tables()));
  tables_.push_back(std::make_unique<Table>(*this, "columns", columns_of_columns()));
}

Database::~Database() = default;

RowSink& Database::add_table(std::string_view name, std::string_view help,
                             std::span<const TableColumn> columns) {
  const Cell of_table[]{name, help};
  tables_[0]->row(of_table);
  for (const TableColumn& column : columns) {
    const Cell of_column[]{name, column.name, name_of(column.kind), column.help};
    tables_[1]->row(of_column);
  }
  return *tables_.emplace_back(std::make_unique<Table>(*this, name, columns));
}

void Database::finish() {
  execute("COMMIT");
  tables_.clear();
  db_.reset();
  path_.publish();
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::fail() const {
  const bool full = sqlite3_errcode(db_.get()) == SQLITE_FULL;  // which forgets errno
  fail_at("write", path_.path(), full ? std::strerror(ENOSPC) : sqlite3_errmsg(db_.get()));
}

}  // namespace outrider::lab
