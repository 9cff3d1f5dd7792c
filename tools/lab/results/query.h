#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace outrider::lab {

/// A statement that a database refuses, with the cause alone.
struct QueryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The rows that a query gives, one at a time.
class Query {
 public:
  /// NULL, a whole number, another number, or a text.
  using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

  /// Goes on to the next row, to the first one at first. @return false behind the last one
  /// @throws QueryError
  bool next();

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  /// Returns a cell of this row; NULL is empty.
  [[nodiscard]] std::string text(std::size_t column) const;
  /// Returns a cell as a whole number; nothing for NULL.
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t column) const;
  /// Returns a cell as a number; NaN for NULL.
  [[nodiscard]] double number(std::size_t column) const;
  /// Returns a cell as it is stored.
  [[nodiscard]] Value value(std::size_t column) const;
  [[nodiscard]] bool is_null(std::size_t column) const;

 private:
  friend class ResultsReader;
  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;
  explicit Query(Statement statement);

  Statement statement_;
  std::vector<std::string> columns_{};
};

/// Reads a database of results, see Database, which nothing can write to through it.
class ResultsReader {
 public:
  /// @throws std::runtime_error naming the file and the cause
  explicit ResultsReader(const std::filesystem::path& database);

  /// @param sql  one statement that gives rows; they end before this
  /// @throws QueryError
  [[nodiscard]] Query query(std::string_view sql) const;

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_;
};

/// Returns the rows of a query in columns that stand below each other, numbers to the right.
std::string rows_as_text(Query query);
/// Returns them as of RFC 4180, names first.
std::string rows_as_csv(Query query);

}  // namespace outrider::lab
