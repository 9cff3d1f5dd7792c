#include "tools/lab/editing/convert.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/config/toml_file.h"
#include "common/config/toml_text.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/experiment/replaced_parameters.h"

namespace outrider::lab {
namespace {

/// How a file without [parameters] gives one.
constexpr std::string_view kOfParameters = "parameters.";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Where the value of a line ends.
struct LineEnd {
  std::size_t end = 0;      ///< of its comment's begin, or of the line
  int open = 0;             ///< brackets that stay open
  std::string_view text{};  ///< the quotes of a text that goes on in the next line
};

/// @param text  the quotes of the text in which the line begins; empty: in none
LineEnd end_of_value(std::string_view line, std::string_view text = {}) {
  static constexpr std::string_view kQuotes[]{"\"\"\"", "'''", "\"", "'"};
  int open = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (!text.empty()) {
      if (rest[0] == '\\' && text[0] == '"') ++i;
      else if (rest.starts_with(text)) i += text.size() - 1, text = {};
    } else if (const auto* quotes = std::ranges::find_if(
                   kQuotes, [rest](std::string_view q) { return rest.starts_with(q); });
               quotes != std::end(kQuotes)) {
      text = *quotes;
      i += text.size() - 1;
    } else if (rest[0] == '[') {
      ++open;
    } else if (rest[0] == ']') {
      --open;
    } else if (rest[0] == '#') {
      return {i, open};
    }
  }
  return {line.size(), open, text.size() > 1 ? text : std::string_view{}};
}

/// Where keys of a table are parameters.
enum class Table : std::uint8_t { kTop, kOther, kParameters, kJob, kVary, kFront };

/// Rewrites a text line by line.
class Converter {
 public:
  explicit Converter(std::string_view text) : rest_(text) {}

  Converted convert() {
    while (!rest_.empty()) take_line();
    end_table();
    return std::move(out_);
  }

 private:
  std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    ++number_;
    return line;
  }

  void say(std::string_view line) { out_.text.append(line).push_back('\n'); }
  void changed(const std::string& line) {
    say(line);
    ++out_.changes;
  }
  void leave_alone(const std::string& why) {
    out_.left_alone.push_back("line " + std::to_string(number_) + ": " + why);
  }

  void take_line() {
    const std::string_view line = next_line();
    const std::string_view text = trimmed(line);
    const auto [end, open, quotes] = end_of_value(line);
    if (!quotes.empty()) return say(line), leave_text_alone({end, open, quotes});
    if (text.starts_with('[')) return begin_table(line, text);
    const std::size_t equals = line.substr(0, end).find('=');
    const bool of_top = table_ == Table::kTop && text.starts_with(kOfParameters);
    const bool is_key = equals != line.npos && !text.starts_with('#');
    if (!is_key || table_ == Table::kOther || (table_ == Table::kTop && !of_top)) return say(line);
    std::string value(line.substr(equals + 1, end - equals - 1));
    std::string comment(line.substr(end)), written(line);
    if (open > 0 && !comment.empty()) return leave_alone("a list with comments"), say(line);
    for (int depth = open; depth > 0 && !rest_.empty();) {
      const std::string_view more = next_line();
      written.append("\n").append(more);
      const auto [end_of_more, opened, of_more] = end_of_value(more);
      if (!of_more.empty()) return say(written), leave_text_alone({0, depth + opened, of_more});
      value.append(" ").append(trimmed(more.substr(0, end_of_more)));
      comment = more.substr(end_of_more);
      depth += opened;
      if (depth > 0 && !comment.empty()) return leave_alone("a list with comments"), say(written);
    }
    take_key(written, std::string(trimmed(line.substr(0, equals))), value, comment);
  }

  /// Says the rest of a value that has a text of several lines.
  void leave_text_alone(LineEnd at) {
    while ((!at.text.empty() || at.open > 0) && !rest_.empty()) {
      const std::string_view line = next_line();
      const int open = at.open;
      at = end_of_value(line, at.text);
      at.open += open;
      say(line);
    }
  }

  void begin_table(std::string_view line, std::string_view text) {
    end_table();
    const std::size_t end = end_of_value(text).end;
    const std::string_view name = trimmed(text.substr(0, end));
    const std::string_view behind = text.substr(std::min(text.size(), name.size()));
    table_ = Table::kOther;
    if (name == "[front]") {
      table_ = Table::kFront;
      changed("[search]" + std::string(behind));
      return changed("pick = \"front\"");
    }
    if (name == "[[front.system]]") {
      table_ = Table::kParameters;
      return changed("[[search.family]]" + std::string(behind));
    }
    if (name == "[parameters]" || name == "[[arm]]" || name == "[[search.family]]")
      table_ = Table::kParameters;
    if (name == "[[job]]") table_ = Table::kJob;
    if (name == "[matrix]") leave_alone("[matrix] " + std::string(kNoMatrix));
    if (name != "[[vary]]" && name != "[[cross]]") return say(line);
    table_ = name == "[[vary]]" ? Table::kVary : Table::kParameters;
    changed("[[sweep]]" + std::string(behind));
  }

  /// A [[vary]] has its parameter in a line and its values in another.
  void end_table() {
    if (!vary_.empty()) {
      leave_alone("[[vary]] needs its parameter and its values");
      out_.text += std::exchange(vary_, {});
    }
    parameter_.clear();
    values_.clear();
  }

  static std::optional<ConfigValue> parsed(const std::string& value) {
    auto read = parse_toml("v = " + value);
    if (!read || read.config->members.size() != 1) return std::nullopt;
    return read.config->members.front().value;
  }

  void take_key(const std::string& written, const std::string& key, const std::string& value,
                const std::string& comment) {
    if (table_ == Table::kVary && (key == "parameter" || key == "values")) {
      const auto read = parsed(value);
      if (key == "values") values_ = value;
      else if (read && read->as<std::string>() != nullptr) parameter_ = *read->as<std::string>();
      comment_ += (comment_.empty() || comment.empty() ? "" : "  ") + comment;
      vary_.append(written).push_back('\n');
      if (!parameter_.empty() && !values_.empty()) {
        vary_.clear();
        const std::string all = std::exchange(values_, {});
        rewrite(std::exchange(parameter_, {}), all, std::exchange(comment_, {}), nullptr);
      }
      return;
    }
    rewrite(key, value, comment, &written);
  }

  /// @param written  its lines as they were, if they may stay
  void rewrite(const std::string& key, const std::string& value, const std::string& comment,
               const std::string* written) {
    const bool of_top = table_ == Table::kTop;
    const std::string_view own = std::string_view(key).substr(of_top ? kOfParameters.size() : 0);
    const Replaced* row = table_ == Table::kFront ? replaced_of_front(own) : replaced(own);
    const auto as_written = [&] {
      written != nullptr
          ? say(*written)
          : changed(with_comment(key + " = " + std::string(trimmed(value)), comment));
    };
    if (row == nullptr) return as_written();
    const auto read = parsed(value);
    const auto now = read ? value_now(*row, *read) : std::nullopt;
    if (!now) {
      leave_alone(key + " is " + std::string(row->is) + " now");
      return as_written();
    }
    const bool same = row->unit == ReplacedUnit::kSame;
    const std::string text = same ? std::string(trimmed(value)) : to_toml_text(*now);
    const std::string before(of_top ? kOfParameters : "");
    const auto place = table_ == Table::kJob ? ParameterPlace::kJob : ParameterPlace::kCase;
    changed(with_comment(before + std::string(key_now(*row, place)) + " = " + text, comment));
  }

  static std::string with_comment(std::string line, const std::string& comment) {
    if (!comment.empty()) line += "  " + comment;
    return line;
  }

  std::string_view rest_;
  std::size_t number_ = 0;
  Table table_ = Table::kTop;
  std::string parameter_{}, values_{}, comment_{};  ///< of a [[vary]] so far
  std::string vary_{};                              ///< its lines
  Converted out_{};
};

}  // namespace

namespace {

/// Names the keys that are still of the earlier language, whatever way they are written in.
void name_left(const ConfigTable& table, const std::string& path, ParameterPlace place,
               Converted& converted) {
  ConfigIssues left;
  without_replaced(with_nested_keys(table), path, left, place);
  for (const auto& issue : left)
    converted.left_alone.push_back(issue.key + ' ' + issue.problem +
                                   ", and stands where it cannot be rewritten");
}

/// Gives lines the ends of Windows, if all lines of the text that they are made from have them.
void end_lines_as(std::string_view text, std::string& lines) {
  std::size_t ends = 0;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1), ++ends)
    if (at == 0 || text[at - 1] != '\r') return;
  if (ends == 0) return;
  std::string ended;
  for (const char c : lines) ended.append(c == '\n' ? "\r\n" : std::string(1, c));
  lines = std::move(ended);
}

}  // namespace

Converted convert_experiment(std::string_view text) {
  Converted converted = Converter(text).convert();
  end_lines_as(text, converted.text);
  if (!converted.left_alone.empty()) return converted;
  const auto read = parse_toml(converted.text);
  if (!read) {
    converted.left_alone.push_back(format_issues("the text", read.issues));
    return converted;
  }
  const auto name_list = [&](const ConfigValue& list, const std::string& path) {
    if (!is_array_of_tables(list)) return;
    const auto place = path == "job" ? ParameterPlace::kColumn : ParameterPlace::kPreset;
    for (const ConfigValue& one : *list.as<ConfigValue::Array>())
      name_left(*one.as<ConfigTable>(), path, place, converted);
  };
  for (const auto& [key, value] : read.config->members) {
    const auto* table = value.as<ConfigTable>();
    if (table != nullptr && key == "parameters")
      name_left(*table, key, ParameterPlace::kPreset, converted);
    if (table != nullptr && key == "search" && table->get("family") != nullptr)
      name_list(*table->get("family"), "search.family");
    for (const char* list : {"arm", "sweep", "vary", "cross", "job"})
      if (key == list) name_list(value, key);
  }
  return converted;
}

}  // namespace outrider::lab
