#include "tools/lab/import/aicb_workload.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using AicbWords = std::vector<std::string_view>;

struct AicbRow {
  std::size_t line = 0;
  std::string_view type{}, group{};
  std::uint64_t size = 0;  ///< of the group
  std::uint64_t bytes = 0;
  std::string name{};
};

/// Returns what stands behind the dot, "all_reduce" of "CommType.all_reduce".
std::string_view behind_dot(std::string_view word) {
  return word.substr(std::min(word.rfind('.') + 1, word.size()));
}

class AicbReader {
 public:
  void take(std::size_t line, const AicbWords& words) {
    line_ = line;
    if (issues_.has_more()) return;
    if (!named_ && words.front().starts_with('[')) return take_ranks(words);
    const AicbWords fields = tg::comma_fields(words);
    if (!named_) return take_names(fields);
    if (faulty_names_) return;
    take_row(fields);
  }

  ConfigResult<JobTrace> result() {
    if (issues_.empty() && !named_)
      issues_.push_back({"", "has no line of columns, comm_type,comm_group,..."});
    JobTrace trace;
    if (issues_.empty()) trace = make();
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {std::move(trace), {}};
  }

 private:
  static std::string shown(std::string_view word) {
    return "\"" + shortened(std::string(word), kShownValue_bytes) + "\"";
  }
  void fault(const std::string& rule) { issues_.push_back(tg::line_issue(line_, rule)); }

  /// "[rank0 ~ rank127]", or "[ pp_stage0: [rank0, rank1] ]": the largest number of the first list.
  void take_ranks(const AicbWords& words) {
    for (const std::string_view word : words) {
      std::string_view number = word;
      while (!number.empty() && (number.front() == '[' || number.front() == ' '))
        number.remove_prefix(1);
      if (!number.starts_with("rank")) continue;
      number.remove_prefix(4);
      const bool ends = number.find(']') != std::string_view::npos;
      const auto rank = tg::whole_number_of(number.substr(0, number.find_first_of(",]")));
      if (!rank || *rank >= kMostGpus) return fault(shown(word) + ": must be a rank, as in rank7");
      ranks_ = std::max(ranks_, *rank + 1);
      if (ends) break;
    }
  }

  void take_names(const AicbWords& fields) {
    named_ = true;
    columns_ = fields.size();
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const auto found = std::ranges::find(fields, kNames[i]);
      at_[i] = static_cast<std::size_t>(found - fields.begin());
      if (found != fields.end()) continue;
      faulty_names_ = true;
      fault("has no column \"" + std::string(kNames[i]) + "\"");
    }
  }

  void take_row(const AicbWords& fields) {
    const std::string_view type = behind_dot(fields.front());
    if (type == "epoch_end") {
      ++epochs_;
      if (epochs_ == 1) {  // what stood above sets the job up
        for (std::size_t i = 0; i < rows_.size(); ++i)
          left_out_.add("communications before the first epoch_end, which set the job up");
        rows_.clear();
      }
      return;
    }
    if (type == "computation")  // whose shapes have commas in them
      return left_out_.add("computations: they take no time here");
    if (epochs_ > 1) return left_out_.add("communications of further iterations");
    if (fields.size() < columns_) return fault("must hold " + std::to_string(columns_) + " fields");
    AicbRow row{.line = line_,
                .type = behind_dot(fields[at_[kType]]),
                .group = behind_dot(fields[at_[kGroup]]),
                .name = std::string(fields[at_[kStage]].substr(0, tg::kMostStepName))};
    const auto bytes = tg::whole_number_of(fields[at_[kBytes]]);
    const auto size = tg::whole_number_of(fields[at_[kSize]]);
    const bool without = fields[at_[kSize]] == "None";
    if (!bytes || *bytes > kLargestBytes)
      return fault(shown(fields[at_[kBytes]]) + ": msg_size must be a whole number, at most 1e15");
    if (!without && (!size || *size == 0 || *size > kMostGpus))
      return fault(shown(fields[at_[kSize]]) + ": comm_group_size must be from 1 to " +
                   std::to_string(kMostGpus) + ", or None");
    row.bytes = *bytes;
    row.size = size.value_or(0);
    if (row.group == "tp_group") tensor_ = std::max(tensor_, row.size);
    if (row.group == "ep_group") expert_ = std::max(expert_, row.size);
    if (ranks_ == 0) largest_group_ = std::max(largest_group_, row.size);
    rows_.push_back(std::move(row));
  }

  static std::optional<tg::StepKind> kind_of(std::string_view type) {
    constexpr std::array<std::pair<std::string_view, tg::StepKind>, 5> kKinds{
        {{"all_reduce", tg::StepKind::kAllReduce},
         {"all_gather", tg::StepKind::kAllGather},
         {"reduce_scatter", tg::StepKind::kReduceScatter},
         {"all_to_all", tg::StepKind::kAllToAll},
         {"broadcast", tg::StepKind::kBroadcast}}};
    for (const auto& [name, kind] : kKinds)
      if (type == name) return kind;
    return std::nullopt;
  }

  /// Ranks count through tensor parallelism first, then experts, then the rest of data parallelism.
  [[nodiscard]] std::optional<std::uint64_t> stride_of(std::string_view group) const {
    if (group == "tp_group") return 1;
    if (group == "dp_group" || group == "ep_group") return tensor_;
    if (group == "ep_dp_group") return tensor_ * expert_;
    if (group == "ep_tp_group") return 1;
    return std::nullopt;
  }

  void add_row(const AicbRow& row, StepSequence& sequence, std::uint64_t ranks) {
    line_ = row.line;
    const auto kind = kind_of(row.type);
    const auto stride = stride_of(row.group);
    if (!kind) return left_out_.add("sends, receipts, barriers and reductions to one rank");
    if (!stride) return left_out_.add("collectives of pipelines and embeddings", row.bytes);
    if (row.size < 2 || row.bytes == 0) return left_out_.add("collectives of one GPU or no bytes");
    if (ranks % (row.size * *stride) != 0)
      return fault("comm_group_size " + std::to_string(row.size) + ": times " +
                   std::to_string(*stride) + " GPUs between its ranks must divide the " +
                   std::to_string(ranks) + " ranks");
    const auto groups =
        rank_groups(static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(row.size),
                    static_cast<std::uint32_t>(*stride));
    if (std::ranges::all_of(groups, within_a_server))
      return left_out_.add("collectives within a server (NVLink), which take no time here",
                           row.bytes);
    const bool whole = *kind == tg::StepKind::kAllReduce || *kind == tg::StepKind::kBroadcast;
    if (!whole && row.bytes < row.size)
      return fault("msg_size " + std::to_string(row.bytes) + ": must be a byte for each of " +
                   std::to_string(row.size) + " ranks");
    sequence.collective(*kind, groups, row.bytes, row.name);
    if (sequence.full())
      fault("the list of steps has more than " + std::to_string(tg::kMostStepMessages) +
            " messages up to this line");
  }

  JobTrace make() {
    const std::uint64_t ranks = ranks_ > 0 ? ranks_ : largest_group_;
    if (ranks < 2 || ranks > tg::kMostStepRanks) {
      issues_.push_back({"", "has " + std::to_string(ranks) + " ranks: a job has from 2 to " +
                                 std::to_string(tg::kMostStepRanks) + " workers here"});
      return {};
    }
    StepSequence sequence(static_cast<std::uint32_t>(ranks));
    for (const AicbRow& row : rows_) {
      if (issues_.has_more() || sequence.full()) break;
      add_row(row, sequence, ranks);
    }
    if (!issues_.empty()) return {};
    JobTrace trace{.list = sequence.take()};
    trace.understood.push_back(std::to_string(rows_.size()) +
                               " communications of an iteration on " + std::to_string(ranks) +
                               " ranks, each with a NIC");
    trace.left_out = left_out_.lines();
    return trace;
  }

  static constexpr std::uint64_t kMostGpus = 1'000'000;
  static constexpr std::array<std::string_view, 5> kNames{"comm_type", "comm_group",
                                                          "comm_group_size", "msg_size", "stage"};
  enum Column : std::size_t { kType, kGroup, kSize, kBytes, kStage };

  std::size_t line_ = 0;
  std::size_t columns_ = 0;
  bool named_ = false;
  bool faulty_names_ = false;
  std::array<std::size_t, kNames.size()> at_{};
  std::uint64_t ranks_ = 0;  ///< 0: the file does not say
  std::uint64_t largest_group_ = 0;
  std::uint64_t tensor_ = 1, expert_ = 1;
  std::uint64_t epochs_ = 0;
  std::vector<AicbRow> rows_;
  LeftOut left_out_;
  ConfigIssues issues_;
};

}  // namespace

ConfigResult<JobTrace> parse_aicb_workload(std::string_view text) {
  AicbReader reader;
  tg::for_each_line(text,
                    [&](std::size_t line, const AicbWords& words) { reader.take(line, words); });
  return reader.result();
}

}  // namespace outrider::lab
