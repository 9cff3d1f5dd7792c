#include "tools/lab/import/connection_matrix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"
#include "tools/lab/fabric/fabric_config.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using MatrixWords = std::vector<std::string_view>;

/// Takes the lines one after the other.
class MatrixReader {
 public:
  void take(std::size_t line, const MatrixWords& words) {
    line_ = line;
    if (issues_.has_more()) return;
    if (words.front().find("->") != std::string_view::npos) return take_flow(words);
    if (words.front() == "trigger") return;  // says how a trigger fires; its flows are counted
    if (words.front() == "failure") return void(++matrix_.failures);
    for (auto& [name, value] : heads_)
      if (words.front() == name) return take_number(words, value);
    fault("\"" + shown(words.front()) +
          "\": must be Nodes, Connections, Triggers, Failures, \"FROM->TO\", trigger or failure");
  }

  ConfigResult<ConnectionMatrix> result() {
    for (const std::size_t head : {std::size_t{0}, std::size_t{1}})
      if (!heads_[head].second && issues_.empty())
        issues_.push_back({"", "has no line \"" + std::string(heads_[head].first) + " N\""});
    const std::uint64_t seen = matrix_.flows.size() + matrix_.waiting;
    if (issues_.empty() && *heads_[1].second != seen)
      issues_.push_back({"", "has " + std::to_string(seen) + " flows, and says Connections " +
                                 std::to_string(*heads_[1].second)});
    if (issues_.empty() && matrix_.flows.empty())
      issues_.push_back({"", "has no flow with a start of its own: all wait for triggers"});
    if (!issues_.empty()) return {{}, std::move(issues_)};
    std::ranges::stable_sort(matrix_.flows, {}, &tg::ListedFlow::at);
    return {std::move(matrix_), {}};
  }

 private:
  static std::string shown(std::string_view word) {
    return shortened(std::string(word), kShownValue_bytes);
  }
  void fault(const std::string& rule) { issues_.push_back(tg::line_issue(line_, rule)); }

  void take_number(const MatrixWords& words, std::optional<std::uint64_t>& value) {
    value = words.size() == 2 ? tg::whole_number_of(words[1]) : std::nullopt;
    if (!value) fault("must be \"" + std::string(words.front()) + "\" and a whole number");
    if (words.front() != "Nodes" || !value) return;
    if (*value < 2 || *value > kMaxFabricHosts)
      fault("Nodes " + std::to_string(*value) + ": must be from 2 to " +
            std::to_string(kMaxFabricHosts));
    matrix_.nodes = *value;
  }

  std::optional<std::uint32_t> node(std::string_view word) {
    const auto number = tg::whole_number_of(word);
    if (number && *number < matrix_.nodes) return static_cast<std::uint32_t>(*number);
    fault("\"" + shown(word) + "\": is no node, 0 to " +
          std::to_string(std::max<std::size_t>(matrix_.nodes, 1) - 1));
    return std::nullopt;
  }

  /// Returns the value behind a word of a flow. "msg" may have none.
  static std::optional<std::string_view> value_of(const MatrixWords& words, std::size_t& i) {
    if (i + 1 < words.size() && tg::number_of(words[i + 1])) return words[++i];
    return std::nullopt;
  }

  void take_flow(const MatrixWords& words) {
    const std::size_t arrow = words.front().find("->");
    const auto from = node(words.front().substr(0, arrow));
    const auto to = node(words.front().substr(arrow + 2));
    if (from && to && *from == *to) fault("source and destination must differ");
    std::optional<std::string_view> start, bytes;
    bool waits = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view key = words[i];
      const auto value = value_of(words, i);
      if (key == "start") start = value;
      else if (key == "size") bytes = value;
      else if (key == "trigger") waits = true;
      else if (std::ranges::find(kUnused, key) == kUnused.end())
        return fault("\"" + shown(key) + "\": is no word of a flow that is known here");
    }
    add(from, to, waits, start, bytes);
  }

  void add(std::optional<std::uint32_t> from, std::optional<std::uint32_t> to, bool waits,
           std::optional<std::string_view> start, std::optional<std::string_view> bytes) {
    constexpr double kPerNanosecond = 1e3, kPerSecond = 1e12;  // picoseconds
    const auto size = bytes ? tg::whole_number_of(*bytes) : std::nullopt;
    if (!size || *size == 0 || *size > kLargestBytes)
      fault("size must be a whole number above 0, and at most 1e15");
    if (waits) return void(++matrix_.waiting);
    const auto picoseconds = start ? tg::number_of(*start) : std::nullopt;
    if (!picoseconds || *picoseconds < 0 || *picoseconds > kLongest_seconds * kPerSecond)
      return fault("start must be a number of picoseconds from 0 to 1e19, or trigger in its place");
    if (from && to && size)
      matrix_.flows.push_back(
          {Duration{std::llround(*picoseconds / kPerNanosecond)}, *from, *to, *size});
  }

  static constexpr std::array<std::string_view, 5> kUnused{"id", "msg", "send_done_trigger",
                                                           "recv_done_trigger", "prio"};
  std::size_t line_ = 0;
  std::array<std::pair<std::string_view, std::optional<std::uint64_t>>, 4> heads_{
      {{"Nodes", {}}, {"Connections", {}}, {"Triggers", {}}, {"Failures", {}}}};
  ConnectionMatrix matrix_;
  ConfigIssues issues_;
};

}  // namespace

ConfigResult<ConnectionMatrix> parse_connection_matrix(std::string_view text) {
  MatrixReader reader;
  tg::for_each_line(text, [&](std::size_t line, const MatrixWords& w) { reader.take(line, w); });
  return reader.result();
}

}  // namespace outrider::lab
