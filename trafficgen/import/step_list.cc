#include "trafficgen/import/step_list.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "common/config/text_file.h"
#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::tg {
namespace {

using StepWords = std::vector<std::string_view>;

constexpr std::size_t kShownStepWord = 40;  ///< characters of a faulty word that are shown

/// Returns which ranks of a step send something, by their positions in it.
bool sends(const JobStep& step, std::size_t position) {
  switch (step.kind) {
    case StepKind::kCompute:
      return false;
    case StepKind::kSend:
      return position == 0;
    case StepKind::kBroadcast:  // on a binomial tree even positions have children
      return position % 2 == 0 && position + 1 < step.ranks.size();
    case StepKind::kAllReduce:
    case StepKind::kReduceScatter:
    case StepKind::kAllGather:
    case StepKind::kAllToAll:
      break;
  }
  return true;
}

/// Returns what is wrong with a step by itself; empty if nothing is.
std::string fault_of(const JobStep& step) {
  const bool computes = step.kind == StepKind::kCompute;
  if (step.kind == StepKind::kSend && step.ranks.size() != 2)
    return "a send has two ranks, the sender and the receiver";
  if (!computes && step.ranks.size() < 2) return "needs at least two ranks";
  if (computes) {
    if (step.takes < Duration::zero() || seconds(step.takes) > kLongest_seconds)
      return "seconds must be a number from 0 to 1e7";
    return {};
  }
  if (step.bytes == 0 || step.bytes > kLargestBytes)
    return "bytes must be a whole number above 0, and at most 1e15";
  const bool shares = step.kind == StepKind::kReduceScatter || step.kind == StepKind::kAllGather ||
                      step.kind == StepKind::kAllToAll;
  if (shares && step.bytes < step.ranks.size())
    return "bytes must be at least one for each of its " + std::to_string(step.ranks.size()) +
           " ranks";
  return {};
}

/// Checks what joins several steps.
class StepTotals {
 public:
  /// @return what is wrong with the step among those before it; empty if nothing is
  std::string add(const JobStep& step) {
    messages_ += messages_of(step.kind, step.ranks.size()) + (step.after ? step.after->size() : 0);
    if (messages_ > kMostStepMessages)
      return "the list has more than " + std::to_string(kMostStepMessages) +
             " messages up to here, with two more for each rank of each step";
    for (std::size_t i = 0; i < step.ranks.size(); ++i) {
      const std::uint32_t rank = step.ranks[i];
      if (rank >= sends_.size()) sends_.resize(rank + 1, false);
      if (sends(step, i)) sends_[rank] = true;
    }
    return {};
  }
  void end(StepList& list, ConfigIssues& issues) const {
    list.ranks = static_cast<std::uint32_t>(sends_.size());
    if (list.ranks < 2)
      issues.push_back(
          {"", "has steps of " + std::to_string(list.ranks) + " ranks: at least two are needed"});
    for (std::size_t rank = 0; rank < sends_.size() && !issues.has_more(); ++rank)
      if (!sends_[rank])
        issues.push_back({"", "rank " + std::to_string(rank) +
                                  " sends nothing: every rank from 0 on must send something"});
  }

 private:
  std::uint64_t messages_ = 0;
  std::vector<bool> sends_;  ///< [ranks]
};

/// Takes the lines one after the other.
class StepReader {
 public:
  void take(std::size_t line, const StepWords& words) {
    line_ = line;
    if (issues_.has_more()) return;
    const StepWords fields = comma_fields(words);
    if (columns_ == 0) return take_names(fields);
    if (!has_names_) return;  // each line would only say again what the names lack
    if (fields.size() != columns_)
      return fault("must hold " + std::to_string(columns_) + " fields");
    take_step(fields);
  }

  ConfigResult<StepList> result() {
    if (issues_.empty() && list_.steps.empty()) issues_.push_back({"", "has no steps"});
    if (issues_.empty()) totals_.end(list_, issues_);
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {std::move(list_), {}};
  }

 private:
  static constexpr std::array<std::string_view, 6> kNames{"kind",    "ranks", "bytes",
                                                          "seconds", "after", "name"};
  enum Column : std::size_t { kKind, kRanks, kBytes, kSeconds, kAfter, kName };

  void fault(const std::string& rule) { issues_.push_back(line_issue(line_, rule)); }
  static std::string shown(std::string_view word) {
    return "\"" + shortened(std::string(word), kShownStepWord) + "\"";
  }

  void take_names(const StepWords& fields) {
    columns_ = fields.size();
    has_names_ = true;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const auto found = std::ranges::find(fields, kNames[i]);
      if (found != fields.end()) {
        at_[i] = static_cast<std::size_t>(found - fields.begin());
      } else if (i == kKind || i == kRanks) {
        has_names_ = false;
        fault("has no column \"" + std::string(kNames[i]) + "\"; kind and ranks are required");
      }
    }
  }

  [[nodiscard]] std::string_view field(const StepWords& fields, Column column) const {
    return at_[column] ? fields[*at_[column]] : std::string_view{};
  }

  void take_step(const StepWords& fields) {
    JobStep step{.name = std::string(field(fields, kName).substr(0, kMostStepName))};
    const auto kind = std::ranges::find(kStepKinds, field(fields, kKind));
    if (kind == kStepKinds.end())
      return fault(shown(field(fields, kKind)) +
                   ": must be compute, all_reduce, reduce_scatter, all_gather, all_to_all, "
                   "broadcast or send");
    step.kind = static_cast<StepKind>(kind - kStepKinds.begin());
    if (!take_ranks(field(fields, kRanks), step) || !take_size(fields, step) ||
        !take_after(field(fields, kAfter), step))
      return;
    if (const auto problem = fault_of(step); !problem.empty()) return fault(problem);
    if (const auto problem = totals_.add(step); !problem.empty()) {
      full_ = true;
      return fault(problem);
    }
    if (!full_) list_.steps.push_back(std::move(step));
  }

  bool take_size(const StepWords& fields, JobStep& step) {
    const bool computes = step.kind == StepKind::kCompute;
    const std::string_view unused = field(fields, computes ? kBytes : kSeconds);
    if (!unused.empty()) {
      fault(computes ? "a computation has no bytes" : "seconds are for compute alone");
      return false;
    }
    if (computes) {
      const auto seconds = number_of(field(fields, kSeconds));
      step.takes = from_seconds(seconds && *seconds <= kLongest_seconds ? *seconds : -1);
      return true;  // fault_of() says what is wrong
    }
    step.bytes = whole_number_of(field(fields, kBytes)).value_or(0);
    return true;
  }

  /// Returns the two ends of "3" or "3-7".
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(std::string_view word) {
    const std::size_t dash = word.find('-');
    const auto first = whole_number_of(word.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : whole_number_of(word.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostStepRanks) return std::nullopt;
    return std::pair{*first, *last};
  }

  template <class Take>
  static void for_each_part(std::string_view text, Take take) {
    while (true) {
      const std::size_t end = std::min(text.find(';'), text.size());
      if (!take(text.substr(0, end)) || end == text.size()) return;
      text.remove_prefix(end + 1);
    }
  }

  bool take_ranks(std::string_view text, JobStep& step) {
    std::array<bool, kMostStepRanks> seen{};
    bool good = true;
    for_each_part(text, [&](std::string_view part) {
      const auto range = range_of(part);
      if (!range) fault(shown(part) + ": ranks are numbers from 0 to 255 and ranges, as in 0-3;8");
      good = range.has_value();
      for (std::uint64_t rank = good ? range->first : 1; good && rank <= range->second; ++rank) {
        if (std::exchange(seen[rank], true)) {
          fault("rank " + std::to_string(rank) + " is named twice");
          good = false;
        }
        step.ranks.push_back(static_cast<std::uint32_t>(rank));
      }
      return good;
    });
    return good;
  }

  bool take_after(std::string_view text, JobStep& step) {
    if (text.empty()) return true;
    step.after.emplace();
    if (text == "start") return true;
    bool good = true;
    for_each_part(text, [&](std::string_view part) {
      const auto number = whole_number_of(part);
      good = number && *number >= 1 && *number <= list_.steps.size() &&
             step.after->size() < kMostStepMessages;
      if (good) step.after->push_back(static_cast<std::uint32_t>(*number - 1));
      else
        fault(shown(part) + ": after must have numbers of steps above this one, 1 to " +
              std::to_string(list_.steps.size()) + ", or be start");
      return good;
    });
    return good;
  }

  std::size_t line_ = 0;
  std::size_t columns_ = 0;
  bool has_names_ = false;
  bool full_ = false;
  std::array<std::optional<std::size_t>, kNames.size()> at_{};
  StepList list_;
  StepTotals totals_;
  ConfigIssues issues_;
};

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += (i == 0 ? "" : ";") + std::to_string(ranks[i]);
    if (end > i + 1) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string after_text(const JobStep& step) {
  if (!step.after) return {};
  if (step.after->empty()) return "start";
  std::string text;
  for (const std::uint32_t index : *step.after)
    text += (text.empty() ? "" : ";") + std::to_string(index + 1);
  return text;
}

std::string plain(std::string name) {
  std::erase_if(name, [](char c) { return c == ',' || c == '#' || c == '\n' || c == '\r'; });
  name.resize(std::min(name.size(), kMostStepName));
  return name;
}

}  // namespace

std::uint64_t messages_of(StepKind kind, std::uint64_t ranks) noexcept {
  const std::uint64_t own = 2 * ranks;
  switch (kind) {
    case StepKind::kCompute:
      return own;
    case StepKind::kAllReduce:
      return own + 2 * ranks * (ranks - 1);
    case StepKind::kReduceScatter:
    case StepKind::kAllGather:
    case StepKind::kAllToAll:
      return own + ranks * (ranks - 1);
    case StepKind::kBroadcast:
      return own + ranks - 1;
    case StepKind::kSend:
      break;
  }
  return own + 1;
}

std::uint64_t bytes_sent(const StepList& list) noexcept {
  std::uint64_t bytes = 0;
  for (const JobStep& step : list.steps) {
    const std::uint64_t others = step.ranks.size() - 1;
    if (step.kind == StepKind::kCompute) continue;
    bytes += step.bytes * (step.kind == StepKind::kAllReduce ? 2 * others : others);
  }
  return bytes;
}

Duration longest_compute(const StepList& list) {
  std::vector<Duration> of_rank(list.ranks);
  for (const JobStep& step : list.steps)
    if (step.kind == StepKind::kCompute)
      for (const std::uint32_t rank : step.ranks) of_rank[rank] += step.takes;
  return of_rank.empty() ? Duration{} : *std::ranges::max_element(of_rank);
}

ConfigResult<StepList> parse_step_list(std::string_view text) {
  StepReader reader;
  for_each_line(text, [&](std::size_t line, const StepWords& words) { reader.take(line, words); });
  return reader.result();
}

ConfigResult<StepList> load_step_list(const std::string& path) {
  auto text = read_text_file(path, kMaxImportMib);
  if (!text) return {{}, std::move(text.issues)};
  return parse_step_list(*text.config);
}

ConfigIssues validate(const StepList& list) {
  ConfigIssues issues;
  StepTotals totals;
  for (std::size_t i = 0; i < list.steps.size() && !issues.has_more(); ++i) {
    const JobStep& step = list.steps[i];
    auto problem = fault_of(step);
    if (problem.empty()) problem = totals.add(step);
    if (!problem.empty()) issues.push_back({"step " + std::to_string(i + 1), problem});
  }
  StepList counted;
  if (issues.empty()) totals.end(counted, issues);
  return issues;
}

std::string step_list_text(const StepList& list) {
  std::string text = "kind,ranks,bytes,seconds,after,name\n";
  std::array<char, 32> seconds_text{};
  for (const JobStep& step : list.steps) {
    const bool computes = step.kind == StepKind::kCompute;
    std::snprintf(seconds_text.data(), seconds_text.size(), "%.9f", seconds(step.takes));
    text += std::string(kStepKinds[static_cast<std::size_t>(step.kind)]) + "," +
            ranks_text(step.ranks) + "," + (computes ? "" : std::to_string(step.bytes)) + "," +
            (computes ? seconds_text.data() : "") + "," + after_text(step) + "," +
            plain(step.name) + "\n";
  }
  return text;
}

}  // namespace outrider::tg
