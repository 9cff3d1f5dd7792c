#include "tools/lab/report/report_csv.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace outrider::lab {

CsvReader::CsvReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  if (!read_record()) fail("has no header");
  header_ = fields_;
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto it = std::ranges::find(header_, name);
  if (it == header_.end())
    fail("has no column \"" + std::string(name) + "\": another version wrote it");
  return static_cast<std::size_t>(it - header_.begin());
}

bool CsvReader::next() {
  if (!read_record()) return false;
  if (fields_.size() != header_.size())
    fail("record " + std::to_string(record_) + " has " + std::to_string(fields_.size()) +
         " fields, the header has " + std::to_string(header_.size()));
  return true;
}

std::optional<std::int64_t> CsvReader::whole(std::size_t column) const {
  const std::string& field = fields_[column];
  if (field.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size())
    fail("record " + std::to_string(record_) + ", " + header_[column] + ": \"" + field +
         "\" is no whole number");
  return value;
}

bool CsvReader::read_record() {
  std::streambuf& source = *in_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int ch = source.sbumpc();
  if (ch == kEnd) return false;
  ++record_;
  std::size_t field = 0;
  bool quoted = false;
  for (auto& f : fields_) f.clear();  // keeps their memory: there are millions of records
  for (;; ch = source.sbumpc()) {
    if (field == fields_.size()) fields_.emplace_back();
    if (ch == kEnd || (ch == '\n' && !quoted)) break;
    if (ch == '"') {
      const bool doubled = quoted && source.sgetc() == '"';
      if (doubled) fields_[field] += static_cast<char>(source.sbumpc());
      else quoted = !quoted;
    } else if (ch == ',' && !quoted) {
      ++field;
    } else {
      fields_[field] += static_cast<char>(ch);
    }
  }
  if (quoted) fail("record " + std::to_string(record_) + " ends inside quotes");
  fields_.resize(field + 1);
  return true;
}

void CsvReader::fail(const std::string& what) const {
  throw std::runtime_error(name_ + " " + what);
}

}  // namespace outrider::lab
