#include "tools/lab/results/query.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/telemetry/csv_text.h"
#include "common/telemetry/display_width.h"

namespace outrider::lab {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
}

std::vector<std::string> cells_of_row(const Query& query) {
  std::vector<std::string> cells;
  for (std::size_t c = 0; c < query.columns().size(); ++c) cells.push_back(query.text(c));
  return cells;
}

}  // namespace

Query::Query(Statement statement) : statement_(std::move(statement)) {
  for (int c = 0; c < sqlite3_column_count(statement_.get()); ++c)
    columns_.emplace_back(sqlite3_column_name(statement_.get(), c));
}

bool Query::next() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  throw QueryError(sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

std::string Query::text(std::size_t column) const {
  const auto at = static_cast<int>(column);
  const unsigned char* text = sqlite3_column_text(statement_.get(), at);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), at))};
}

std::optional<std::int64_t> Query::whole(std::size_t column) const {
  if (is_null(column)) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), static_cast<int>(column));
}

double Query::number(std::size_t column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_.get(), static_cast<int>(column));
}

Query::Value Query::value(std::size_t column) const {
  switch (sqlite3_column_type(statement_.get(), static_cast<int>(column))) {
    case SQLITE_INTEGER:
      return *whole(column);
    case SQLITE_FLOAT:
      return number(column);
    case SQLITE_NULL:
      return {};
    default:
      return text(column);
  }
}

bool Query::is_null(std::size_t column) const {
  return sqlite3_column_type(statement_.get(), static_cast<int>(column)) == SQLITE_NULL;
}

ResultsReader::ResultsReader(const std::filesystem::path& database)
    : connection_(nullptr, sqlite3_close) {
  if (!std::filesystem::exists(database))
    throw std::runtime_error(database.string() +
                             " is not there; name a directory that `outrider-lab run` wrote");
  sqlite3* db = nullptr;
  const int status = sqlite3_open_v2(database.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  connection_.reset(db);
  if (status != SQLITE_OK)
    throw std::runtime_error(database.string() + ": cannot be read: " + sqlite3_errmsg(db));
}

Query ResultsReader::query(std::string_view sql) const {
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int status =
      sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &made, &rest);
  Query::Statement statement(made, sqlite3_finalize);
  if (status != SQLITE_OK) throw QueryError(sqlite3_errmsg(connection_.get()));
  const std::string_view after = sql.substr(static_cast<std::size_t>(rest - sql.data()));
  if (after.find_first_not_of(" \t\r\n;") != std::string_view::npos)
    throw QueryError("one statement at a time, without \"" + std::string(after) + "\"");
  if (made == nullptr || sqlite3_column_count(made) == 0)
    throw QueryError("only a query gives rows");
  return Query(std::move(statement));
}

std::string rows_as_text(Query query) {
  std::vector<std::vector<std::string>> lines{query.columns()};
  while (query.next()) lines.push_back(cells_of_row(query));
  std::vector<std::size_t> widths(query.columns().size());
  for (const auto& cells : lines)
    for (std::size_t c = 0; c < cells.size(); ++c)
      widths[c] = std::max(widths[c], display_width(cells[c]));
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string gap(widths[c] - display_width(cells[c]), ' ');
      line += (c == 0 ? "" : "  ") + (is_number(cells[c]) ? gap + cells[c] : cells[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string rows_as_csv(Query query) {
  std::string text;
  const auto add = [&text](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) text += (c == 0 ? "" : ",") + csv_text(cells[c]);
    text += '\n';
  };
  add(query.columns());
  while (query.next()) add(cells_of_row(query));
  return text;
}

}  // namespace outrider::lab
