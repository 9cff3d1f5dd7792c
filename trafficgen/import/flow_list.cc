#include "trafficgen/import/hpcc_flows.h"

#include <optional>
#include <utility>

#include "common/config/text_file.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::tg {
namespace {

constexpr std::size_t kMaxFaults = 20;  ///< a list may have millions of lines
constexpr double kMaxStart_s = 1e9;

class Reader {
 public:
  explicit Reader(std::size_t hosts) : hosts_(hosts) {}

  void take(std::size_t line, const std::vector<std::string_view>& words) {
    line_ = line;
    if (issues_.size() >= kMaxFaults) return;
    if (!count_) take_count(words);
    else if (lines_ < *count_) take_flow(words);
  }

  ConfigResult<std::vector<ListedFlow>> result() {
    if (!count_ && issues_.empty()) issues_.push_back({"", "is empty: no number of flows"});
    if (issues_.empty() && lines_ < *count_)
      issues_.push_back(line_issue(line_, "ends after " + std::to_string(lines_) + " of " +
                                              std::to_string(*count_) + " flows"));
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {std::move(flows_), {}};
  }

 private:
  void fault(const std::string& rule) { issues_.push_back(line_issue(line_, rule)); }

  void take_count(const std::vector<std::string_view>& words) {
    count_ = whole_number_of(words[0]).value_or(0);
    if (words.size() != 1 || *count_ == 0)
      fault("must be the number of flows, at least 1, and nothing else");
  }

  std::optional<std::uint32_t> host(std::string_view word) {
    const auto number = whole_number_of(word);
    if (number && *number < hosts_) return static_cast<std::uint32_t>(*number);
    fault("\"" + std::string(word) + "\": is not one of the " + std::to_string(hosts_) +
          " hosts, 0 to " + std::to_string(hosts_ - 1));
    return std::nullopt;
  }

  std::optional<double> start(std::string_view word) {
    const auto seconds = number_of(word);
    if (seconds && *seconds >= 0 && *seconds <= kMaxStart_s) return seconds;
    fault("start must be a number of seconds from 0 to 1e9");
    return std::nullopt;
  }

  void take_flow(const std::vector<std::string_view>& words) {
    ++lines_;
    if (words.size() != 6)
      return fault("must hold source, destination, group, port, bytes and start");
    const auto from = host(words[0]), to = host(words[1]);
    const auto bytes = whole_number_of(words[4]);
    const auto start_s = start(words[5]);
    if (!whole_number_of(words[2]) || !whole_number_of(words[3]))
      fault("group and port must be whole numbers");
    if (!bytes || *bytes == 0) fault("bytes must be a whole number above 0");
    if (!from || !to || !bytes || !start_s) return;
    if (*from == *to) return fault("source and destination must differ");
    if (!first_start_s_) first_start_s_ = last_start_s_ = *start_s;
    if (*start_s < last_start_s_) return fault("starts must not fall from line to line");
    last_start_s_ = *start_s;
    flows_.push_back({from_seconds(*start_s - *first_start_s_), *from, *to, *bytes});
  }

  std::size_t hosts_;
  std::size_t line_ = 0;
  std::optional<std::uint64_t> count_;
  std::uint64_t lines_ = 0;  ///< lines of flows, including faulty ones
  std::optional<double> first_start_s_;
  double last_start_s_ = 0;
  std::vector<ListedFlow> flows_;
  ConfigIssues issues_;
};

}  // namespace

ConfigResult<std::vector<ListedFlow>> parse_hpcc_flows(std::string_view text, std::size_t hosts) {
  Reader reader(hosts);
  for_each_line(text, [&](std::size_t line, const std::vector<std::string_view>& words) {
    reader.take(line, words);
  });
  return reader.result();
}

ConfigResult<std::vector<ListedFlow>> load_hpcc_flows(const std::string& path, std::size_t hosts) {
  auto text = read_text_file(path, kMaxImportMib);
  if (!text) return {{}, std::move(text.issues)};
  return parse_hpcc_flows(*text.config, hosts);
}

}  // namespace outrider::tg
