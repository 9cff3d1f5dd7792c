#include "trafficgen/import/flow_list.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "common/config/text_file.h"
#include "common/core/quantity_bounds.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::tg {
namespace {

constexpr std::string_view kAroundFields = " \t\r";

using Words = std::vector<std::string_view>;

/// The words of a line that say what its flow is.
struct FlowWords {
  std::string_view from, to, bytes, start;
};

/// Collects flows, and the faults of their lines.
class FlowList {
 public:
  explicit FlowList(std::size_t hosts) : hosts_(hosts) {}

  void add(std::size_t line, const FlowWords& words) {
    line_ = line;
    const auto from = host(words.from), to = host(words.to);
    const auto bytes = whole_number_of(words.bytes);
    const auto start_s = start(words.start);
    const bool fits = bytes && *bytes > 0 && *bytes <= kLargestBytes;
    if (!fits) fault(line, "bytes must be a whole number above 0, and at most 1e15");
    if (!from || !to || !fits || !start_s) return;
    if (*from == *to) return fault(line, "source and destination must differ");
    if (!first_start_s_) first_start_s_ = last_start_s_ = *start_s;
    if (*start_s < last_start_s_) return fault(line, "starts must not fall from line to line");
    last_start_s_ = *start_s;
    flows_.push_back({from_seconds(*start_s - *first_start_s_), *from, *to, *bytes});
  }

  void fault(std::size_t line, const std::string& rule) {
    issues_.push_back(line_issue(line, rule));
  }
  void fault(const std::string& rule) { issues_.push_back({"", rule}); }

  [[nodiscard]] bool has_faults() const { return !issues_.empty(); }
  [[nodiscard]] bool is_full() const { return issues_.has_more(); }

  ConfigResult<std::vector<ListedFlow>> result() {
    if (has_faults()) return {{}, std::move(issues_)};
    return {std::move(flows_), {}};
  }

 private:
  std::optional<std::uint32_t> host(std::string_view word) {
    const auto number = whole_number_of(word);
    if (number && *number < hosts_) return static_cast<std::uint32_t>(*number);
    fault(line_, "\"" + std::string(word) + "\": is not one of the " + std::to_string(hosts_) +
                     " hosts, 0 to " + std::to_string(hosts_ - 1));
    return std::nullopt;
  }

  std::optional<double> start(std::string_view word) {
    const auto seconds = number_of(word);
    if (seconds && *seconds >= 0 && *seconds <= kLongest_seconds) return seconds;
    fault(line_, "start must be a number of seconds from 0 to 1e7");
    return std::nullopt;
  }

  std::size_t hosts_;
  std::size_t line_ = 0;
  std::optional<double> first_start_s_;
  double last_start_s_ = 0;
  std::vector<ListedFlow> flows_;
  ConfigIssues issues_;
};

class HpccReader {
 public:
  explicit HpccReader(FlowList& list) : list_(list) {}

  void take(std::size_t line, const Words& words) {
    last_line_ = line;
    if (!count_) take_count(words);
    else if (lines_ < *count_) take_flow(words);
  }

  void end() {
    if (!count_ && !list_.has_faults()) list_.fault("is empty: no number of flows");
    if (!list_.has_faults() && lines_ < *count_)
      list_.fault(last_line_, "ends after " + std::to_string(lines_) + " of " +
                                  std::to_string(*count_) + " flows");
  }

 private:
  void take_count(const Words& words) {
    count_ = whole_number_of(words[0]).value_or(0);
    if (words.size() == 1 && *count_ > 0) return;
    list_.fault(last_line_,
                "must be the number of flows, at least 1, and nothing else; or name columns: "
                "start_seconds,from,to,bytes");
    count_ = std::numeric_limits<std::uint64_t>::max();  // the flows may have faults too
  }

  void take_flow(const Words& words) {
    ++lines_;
    if (words.size() != 6)
      return list_.fault(last_line_, "must hold source, destination, group, port, bytes and start");
    if (!whole_number_of(words[2]) || !whole_number_of(words[3]))
      list_.fault(last_line_, "group and port must be whole numbers");
    list_.add(last_line_, {.from = words[0], .to = words[1], .bytes = words[4], .start = words[5]});
  }

  FlowList& list_;
  std::size_t last_line_ = 0;
  std::optional<std::uint64_t> count_;
  std::uint64_t lines_ = 0;  ///< lines of flows, including faulty ones
};

class CsvReader {
 public:
  explicit CsvReader(FlowList& list) : list_(list) {}

  void take(std::size_t line, const Words& words) {
    const Words fields = comma_fields(words);
    if (columns_ == 0) return take_names(line, fields);
    if (!all_named_) return;  // each line would only say again what the names lack
    if (fields.size() != columns_)
      return list_.fault(line, "must hold " + std::to_string(columns_) + " fields");
    list_.add(line, {.from = fields[at_[1]],
                     .to = fields[at_[2]],
                     .bytes = fields[at_[3]],
                     .start = fields[at_[0]]});
    has_flows_ = true;
  }

  void end() {
    if (!has_flows_ && !list_.has_faults()) list_.fault("names columns and has no flows");
  }

 private:
  static constexpr std::array<std::string_view, 4> kNames{"start_seconds", "from", "to", "bytes"};

  void take_names(std::size_t line, const Words& fields) {
    columns_ = fields.size();
    all_named_ = true;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const auto found = std::ranges::find(fields, kNames[i]);
      at_[i] = static_cast<std::size_t>(found - fields.begin()) % columns_;
      if (found != fields.end()) continue;
      all_named_ = false;
      list_.fault(line, "has no column \"" + std::string(kNames[i]) +
                            "\"; start_seconds, from, to and bytes are required");
    }
  }

  FlowList& list_;
  std::size_t columns_ = 0;
  std::array<std::size_t, kNames.size()> at_{};  ///< columns of kNames
  bool all_named_ = false;
  bool has_flows_ = false;
};

/// Says whether the first line that has words names columns.
bool names_columns(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, std::min(end, text.find('#')));
    if (line.find_first_not_of(kAroundFields) != line.npos) return line.find(',') != line.npos;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

template <class Reader>
void read_lines(std::string_view text, FlowList& list) {
  Reader reader(list);
  for_each_line(text, [&](std::size_t line, const Words& words) {
    if (!list.is_full()) reader.take(line, words);
  });
  reader.end();
}

}  // namespace

ConfigResult<std::vector<ListedFlow>> parse_flow_list(std::string_view text, std::size_t hosts) {
  FlowList list(hosts);
  if (names_columns(text)) read_lines<CsvReader>(text, list);
  else read_lines<HpccReader>(text, list);
  return list.result();
}

ConfigResult<std::vector<ListedFlow>> load_flow_list(const std::string& path, std::size_t hosts) {
  auto text = read_text_file(path, kMaxImportMib);
  if (!text) return {{}, std::move(text.issues)};
  return parse_flow_list(*text.config, hosts);
}

}  // namespace outrider::tg
