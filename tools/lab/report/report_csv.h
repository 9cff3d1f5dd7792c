#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::lab {

/// Reads a CSV table (RFC 4180) with a header line, one record at a time, because the files of a
/// bundle are much larger than the data that the report keeps.
class CsvReader {
 public:
  /// @param name  name of the file, for messages
  /// @throws std::runtime_error if there is no header
  CsvReader(std::istream& in, std::string name);

  /// Returns the index of a column. @throws std::runtime_error naming the file if there is none
  [[nodiscard]] std::size_t column(std::string_view name) const;

  /// Reads the next record. @return false at the end
  /// @throws std::runtime_error if it has another number of fields than the header
  bool next();

  [[nodiscard]] const std::string& text(std::size_t column) const { return fields_[column]; }

  /// Returns a field as a whole number; nothing if the field is empty.
  /// @throws std::runtime_error naming file and line if it is no whole number
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t column) const;

 private:
  bool read_record();
  [[noreturn]] void fail(const std::string& what) const;

  std::istream& in_;
  std::string name_;
  std::uint64_t record_ = 0;
  std::vector<std::string> header_;
  std::vector<std::string> fields_;
};

}  // namespace outrider::lab
