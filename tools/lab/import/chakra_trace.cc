#include "tools/lab/import/chakra_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/core/quantity_bounds.h"
#include "tools/lab/import/chakra_nodes.h"

namespace outrider::lab {
namespace {

constexpr std::uint64_t kMicrosecond_ns = 1000;

/// A step of the trace: nodes of several ranks that act together, or one node alone.
struct ChakraTask {
  std::optional<tg::StepKind> kind{};  ///< absent: takes no time and sends nothing
  std::string name{};
  RankGroup ranks{};
  std::uint64_t bytes = 0;
  Duration takes{};
  std::vector<std::size_t> needs{};  ///< tasks
  /// Steps that whoever waits for the task waits for: its own, or those that it waits for.
  std::vector<std::uint32_t> stands_for{};
};

/// CollectiveCommType of the schema.
std::optional<tg::StepKind> chakra_collective(std::uint64_t type) {
  switch (type) {
    case 0:
      return tg::StepKind::kAllReduce;
    case 2:
      return tg::StepKind::kAllGather;
    case 5:
      return tg::StepKind::kBroadcast;
    case 6:
      return tg::StepKind::kAllToAll;
    case 7:
    case 8:
      return tg::StepKind::kReduceScatter;
    default:
      return std::nullopt;
  }
}

/// Joins the nodes of all ranks.
class ChakraJoiner {
 public:
  explicit ChakraJoiner(std::vector<std::vector<ChakraNode>> nodes)
      : nodes_(std::move(nodes)), task_of_(nodes_.size()) {}

  ConfigResult<JobTrace> join() {
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) note_groups(rank);
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
      for (std::size_t i = 0; i < nodes_[rank].size() && !issues_.has_more(); ++i)
        task_of_[rank].push_back(task_of(rank, nodes_[rank][i]));
    if (issues_.empty()) check_matches();
    if (issues_.empty()) add_needs();
    JobTrace trace;
    if (issues_.empty()) trace = make();
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {std::move(trace), {}};
  }

 private:
  using Matched = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  void fault(std::size_t rank, const ChakraNode& node, const std::string& rule) {
    issues_.push_back({"rank " + std::to_string(rank) + ", byte " + std::to_string(node.byte),
                       "node " + std::to_string(node.id) + " " + rule});
  }

  /// A process group has the ranks that use it.
  void note_groups(std::size_t rank) {
    for (const ChakraNode& node : nodes_[rank])
      if (node.type == kChakraCollective) {
        RankGroup& group = groups_[node.group];
        if (group.empty() || group.back() != rank)
          group.push_back(static_cast<std::uint32_t>(rank));
      }
  }

  std::size_t new_task(ChakraTask task) {
    tasks_.push_back(std::move(task));
    return tasks_.size() - 1;
  }

  std::size_t task_of(std::size_t rank, const ChakraNode& node) {
    switch (node.type) {
      case kChakraCompute:
        return computing(rank, node);
      case kChakraCollective:
        return collective(rank, node);
      case kChakraSend:
        return send(rank, node);
      case kChakraReceive:
        return receive(rank, node);
      default:
        left_out_.add("nodes of metadata, memory or storage, which take no time here");
        return new_task({});
    }
  }

  std::size_t computing(std::size_t rank, const ChakraNode& node) {
    if (static_cast<double>(node.duration_us) > kLongest_seconds * 1e6) {
      fault(rank, node, "computes for longer than 1e7 s");
    } else if (node.duration_us > 0) {
      return new_task(
          {.kind = tg::StepKind::kCompute,
           .name = node.name,
           .ranks = {static_cast<std::uint32_t>(rank)},
           .takes = Duration{static_cast<std::int64_t>(node.duration_us * kMicrosecond_ns)}});
    } else if (node.has_operations) {
      left_out_.add("computations that have a number of operations and no time");
    } else {
      left_out_.add("computations without a time");
    }
    return new_task({});
  }

  std::size_t collective(std::size_t rank, const ChakraNode& node) {
    const RankGroup& group = groups_.at(node.group);
    const std::size_t nth = done_[{node.group, rank}]++;
    const auto [known, is_new] = collectives_.try_emplace({node.group, nth}, tasks_.size());
    const auto kind = chakra_collective(node.comm_type.value_or(0));
    std::uint64_t bytes = node.comm_bytes.value_or(0);
    if (bytes > kLargestBytes) fault(rank, node, "has a comm_size above 1e15");
    // astra-sim counts what one rank contributes to a gathering, a list of steps what all do
    else if (kind == tg::StepKind::kAllGather) bytes *= group.size();
    if (is_new) {
      if (!kind) left_out_.add("barriers, reductions to one rank, gatherings and scatterings");
      else if (group.size() < 2) left_out_.add("collectives of one rank", bytes);
      else if (bytes == 0) left_out_.add("collectives without bytes");
      const bool carried = kind && group.size() > 1 && bytes > 0;
      return new_task({.kind = carried ? kind : std::nullopt,
                       .name = node.name,
                       .ranks = group,
                       .bytes = bytes});
    }
    const ChakraTask& same = tasks_[known->second];
    if (same.kind && (same.kind != kind || same.bytes != bytes))
      fault(rank, node,
            "is collective " + std::to_string(nth + 1) +
                " of its group, and has another kind or "
                "size in an earlier rank");
    return known->second;
  }

  /// Returns the peer, or nothing and tells the fault.
  std::optional<std::uint64_t> peer(std::size_t rank, const ChakraNode& node,
                                    std::optional<std::uint64_t> told, const char* attribute) {
    if (told && *told < nodes_.size() && *told != rank) return told;
    fault(rank, node,
          std::string(attribute) + " must be another rank, below " + std::to_string(nodes_.size()));
    return std::nullopt;
  }

  std::size_t send(std::size_t rank, const ChakraNode& node) {
    const auto to = peer(rank, node, node.comm_to, "is a send: comm_dst");
    const std::uint64_t bytes = node.comm_bytes.value_or(0);
    if (bytes == 0 || bytes > kLargestBytes)
      fault(rank, node, "is a send: comm_size must be above 0, and at most 1e15");
    if (!to) return new_task({});
    const Matched pair{rank, *to, node.comm_tag.value_or(0)};
    const std::size_t task =
        new_task({.kind = tg::StepKind::kSend,
                  .name = node.name,
                  .ranks = {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(*to)},
                  .bytes = bytes});
    sends_[pair].push_back(task);
    return task;
  }

  /// A receipt takes no time, and waits for the send that belongs to it.
  std::size_t receive(std::size_t rank, const ChakraNode& node) {
    const auto from = peer(rank, node, node.comm_from, "is a receipt: comm_src");
    const std::size_t task = new_task({.ranks = {static_cast<std::uint32_t>(rank)}});
    if (from) receipts_[{*from, rank, node.comm_tag.value_or(0)}].push_back({task, &node});
    return task;
  }

  void check_matches() {
    for (const auto& [group, ranks] : groups_) {
      const std::size_t first = done_[{group, ranks.front()}];
      for (const std::uint32_t rank : ranks)
        if (const std::size_t here = done_[{group, rank}]; here != first && !issues_.has_more())
          issues_.push_back({"rank " + std::to_string(rank),
                             "has " + std::to_string(here) + " collectives of a group, and rank " +
                                 std::to_string(ranks.front()) + " has " + std::to_string(first)});
    }
    for (const auto& [pair, tasks] : sends_) {
      const auto found = receipts_.find(pair);
      const std::size_t received = found == receipts_.end() ? 0 : found->second.size();
      if (received < tasks.size())
        left_out_.add("pairs of ranks and tags with fewer receipts than sends: the sends are kept");
    }
    for (const auto& [pair, tasks] : receipts_) {
      const auto found = sends_.find(pair);
      const std::size_t sent = found == sends_.end() ? 0 : found->second.size();
      for (std::size_t i = 0; i < tasks.size() && !issues_.has_more(); ++i)
        if (i >= sent) fault(std::get<1>(pair), *tasks[i].second, "receives what nobody sends");
        else tasks_[tasks[i].first].needs.push_back(found->second[i]);
    }
  }

  void add_needs() {
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
      std::map<std::uint64_t, std::size_t> by_id;
      for (std::size_t i = 0; i < nodes_[rank].size() && !issues_.has_more(); ++i)
        if (!by_id.try_emplace(nodes_[rank][i].id, task_of_[rank][i]).second)
          fault(rank, nodes_[rank][i], "has the id of an earlier one");
      for (std::size_t i = 0; i < nodes_[rank].size(); ++i)
        for (const std::uint64_t id : nodes_[rank][i].needs) {
          const auto found = by_id.find(id);
          if (issues_.has_more()) return;
          if (found != by_id.end()) tasks_[task_of_[rank][i]].needs.push_back(found->second);
          else
            fault(rank, nodes_[rank][i],
                  "waits for node " + std::to_string(id) + ", which is not there");
        }
    }
  }

  /// Returns the tasks in an order in which each stands behind those that it waits for; fewer than
  /// all if some wait for each other.
  [[nodiscard]] std::vector<std::size_t> in_order() const {
    std::vector<std::size_t> missing(tasks_.size()), order;
    std::vector<std::vector<std::size_t>> waiting(tasks_.size());
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      missing[t] = tasks_[t].needs.size();
      for (const std::size_t needed : tasks_[t].needs) waiting[needed].push_back(t);
      if (missing[t] == 0) order.push_back(t);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const std::size_t next : waiting[order[i]])
        if (--missing[next] == 0) order.push_back(next);
    return order;
  }

  JobTrace make() {
    const auto order = in_order();
    if (order.size() < tasks_.size()) {
      issues_.push_back({"", std::to_string(tasks_.size() - order.size()) +
                                 " nodes wait for each other in a circle"});
      return {};
    }
    JobTrace trace{.list = {.ranks = static_cast<std::uint32_t>(nodes_.size())}};
    std::uint64_t messages = 0;
    for (const std::size_t t : order)
      if (!add_step(tasks_[t], trace.list, messages)) return {};
    std::size_t nodes = 0;
    for (const auto& of_rank : nodes_) nodes += of_rank.size();
    trace.understood.push_back(std::to_string(nodes) + " nodes of " +
                               std::to_string(nodes_.size()) + " ranks, each with a NIC; " +
                               std::to_string(groups_.size()) + " process groups");
    trace.left_out = left_out_.lines();
    return trace;
  }

  bool add_step(ChakraTask& task, tg::StepList& list, std::uint64_t& messages) {
    std::vector<std::uint32_t> after;
    std::ranges::sort(task.needs);
    task.needs.erase(std::unique(task.needs.begin(), task.needs.end()), task.needs.end());
    for (const std::size_t needed : task.needs) {
      const auto& steps = tasks_[needed].stands_for;
      after.insert(after.end(), steps.begin(), steps.end());
    }
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    messages += after.size() + (task.kind ? tg::messages_of(*task.kind, task.ranks.size()) : 0);
    if (messages > tg::kMostStepMessages) {
      issues_.push_back({"", "the list of steps has more than " +
                                 std::to_string(tg::kMostStepMessages) + " messages"});
      return false;
    }
    if (!task.kind) return task.stands_for = std::move(after), true;
    task.stands_for = {static_cast<std::uint32_t>(list.steps.size())};
    list.steps.push_back({.name = task.name,
                          .kind = *task.kind,
                          .ranks = task.ranks,
                          .takes = task.takes,
                          .bytes = task.bytes,
                          .after = std::move(after)});
    return true;
  }

  std::vector<std::vector<ChakraNode>> nodes_;     ///< [ranks]
  std::vector<std::vector<std::size_t>> task_of_;  ///< [ranks][nodes]
  std::vector<ChakraTask> tasks_;
  std::map<std::string, RankGroup> groups_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> done_;         ///< [group, rank]
  std::map<std::pair<std::string, std::size_t>, std::size_t> collectives_;  ///< [group, n]
  std::map<Matched, std::vector<std::size_t>> sends_;
  std::map<Matched, std::vector<std::pair<std::size_t, const ChakraNode*>>> receipts_;
  LeftOut left_out_;
  ConfigIssues issues_;
};

}  // namespace

ConfigResult<JobTrace> parse_chakra_trace(const std::vector<std::string_view>& files) {
  ConfigIssues issues;
  if (files.size() > tg::kMostStepRanks)
    issues.push_back({"", std::to_string(files.size()) + " ranks: a job has at most " +
                              std::to_string(tg::kMostStepRanks) + " workers here"});
  std::vector<std::vector<ChakraNode>> nodes;
  std::size_t room = kMostChakraNodes;
  for (std::size_t rank = 0; rank < files.size() && issues.empty(); ++rank) {
    nodes.push_back(read_chakra_nodes(files[rank], rank, room, issues));
    room -= nodes.back().size();
  }
  if (!issues.empty()) return {{}, std::move(issues)};
  return ChakraJoiner(std::move(nodes)).join();
}

}  // namespace outrider::lab
