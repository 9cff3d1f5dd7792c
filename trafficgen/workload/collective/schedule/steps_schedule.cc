#include <cassert>
#include <optional>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {
namespace {

using Indices = std::vector<std::uint32_t>;

constexpr std::uint32_t kNoMessage = ~0U;

/// The messages of one step among ranks 0 to N - 1, and those of them before `begin` left out.
struct StepMessages {
  CollectiveSchedule among{};
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// A ring's messages of each step of its own are N; the first N - 1 of these steps reduce. Of a
/// tree the first N - 1 messages reduce.
StepMessages messages_among(const JobStep& step) {
  const auto n = static_cast<std::uint32_t>(step.ranks.size());
  StepMessages m;
  switch (step.kind) {
    case StepKind::kCompute:
      break;
    case StepKind::kAllReduce:
      m.among = step.bytes < n ? tree_schedule(n, step.bytes) : ring_schedule(n, step.bytes, 1);
      m.end = static_cast<std::uint32_t>(m.among.messages.size());
      break;
    case StepKind::kReduceScatter:
      m.among = ring_schedule(n, step.bytes, 1);
      m.end = n * (n - 1);
      break;
    case StepKind::kAllGather:
      m.among = ring_schedule(n, step.bytes, 1);
      m.begin = n * (n - 1);
      m.end = 2 * m.begin;
      break;
    case StepKind::kAllToAll:
      m.among = all_to_all_schedule(n, step.bytes, 1, 0);
      m.end = static_cast<std::uint32_t>(m.among.messages.size());
      break;
    case StepKind::kBroadcast:
      m.among = tree_schedule(n, step.bytes);
      m.begin = n - 1;
      m.end = 2 * m.begin;
      break;
    case StepKind::kSend:
      m.among = {.ranks = 2, .messages = {{.from = 0, .to = 1, .bytes = step.bytes, .sums = true}}};
      m.end = 1;
      break;
  }
  return m;
}

/// Adds the steps one after the other.
class StepsBuilder {
 public:
  explicit StepsBuilder(const StepList& list)
      : list_(list), ends_(list.steps.size()), last_end_(list.ranks, kNoMessage) {
    s_.ranks = list.ranks;
  }

  void add(std::uint32_t index) {
    const JobStep& step = list_.steps[index];
    std::vector<Indices> before;  // [position]: what its rank must have ended
    for (const std::uint32_t rank : step.ranks) before.push_back(before_of(step, rank));
    if (step.kind == StepKind::kCompute) {
      for (std::size_t i = 0; i < step.ranks.size(); ++i)
        end_step(index, step.ranks[i], std::move(before[i]), step.takes);
      return;
    }
    add_messages(index, before);
  }

  CollectiveSchedule result() { return std::move(s_); }

 private:
  [[nodiscard]] std::uint32_t next_index() const {
    return static_cast<std::uint32_t>(s_.messages.size());
  }

  /// Returns the ends of the steps that a rank must have ended before this one.
  [[nodiscard]] Indices before_of(const JobStep& step, std::uint32_t rank) const {
    Indices before;
    if (!step.after) {
      if (last_end_[rank] != kNoMessage) before.push_back(last_end_[rank]);
      return before;
    }
    for (const std::uint32_t earlier : *step.after) {
      const auto& ranks = list_.steps[earlier].ranks;
      for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i] == rank) before.push_back(ends_[earlier][i]);
    }
    return before;
  }

  void end_step(std::uint32_t index, std::uint32_t rank, Indices needs, Duration takes) {
    ends_[index].push_back(next_index());
    last_end_[rank] = next_index();
    s_.messages.push_back(
        {.from = rank, .to = rank, .needs = std::move(needs), .takes = takes, .step = index});
  }

  /// All messages of a rank wait for the same: several ends are joined in one message to itself.
  void join(std::uint32_t rank, Indices& before) {
    if (before.size() < 2) return;
    const std::uint32_t joined = next_index();
    s_.messages.push_back({.from = rank, .to = rank, .needs = std::move(before)});
    before = {joined};
  }

  /// A rank has ended the step when all has arrived that it does not pass on; if there is nothing
  /// of the kind, when all that it has sent has arrived.
  void add_messages(std::uint32_t index, std::vector<Indices>& before) {
    const JobStep& step = list_.steps[index];
    const StepMessages m = messages_among(step);
    for (std::size_t i = 0; i < step.ranks.size(); ++i) join(step.ranks[i], before[i]);
    const std::uint32_t first = next_index();
    std::vector<Indices> received(step.ranks.size()), sent(step.ranks.size());
    std::vector<bool> passed_on(m.end - m.begin, false);
    for (std::uint32_t i = m.begin; i < m.end; ++i) {
      CollectiveMessage message = m.among.messages[i];
      Indices needs = before[message.from];
      for (const std::uint32_t needed : message.needs) {
        if (needed < m.begin) continue;
        needs.push_back(first + needed - m.begin);
        passed_on[needed - m.begin] = true;
      }
      message.needs = std::move(needs);
      received[message.to].push_back(i - m.begin);
      sent[message.from].push_back(i - m.begin);
      message.from = step.ranks[message.from];
      message.to = step.ranks[message.to];
      s_.messages.push_back(std::move(message));
    }
    for (std::size_t i = 0; i < step.ranks.size(); ++i) {
      Indices needs = before[i];
      std::erase_if(received[i], [&](std::uint32_t one) { return passed_on[one]; });
      for (const std::uint32_t one : received[i].empty() ? sent[i] : received[i])
        needs.push_back(first + one);
      end_step(index, step.ranks[i], std::move(needs), Duration{});
    }
  }

  const StepList& list_;
  CollectiveSchedule s_;
  std::vector<Indices> ends_;  ///< [steps][position in its ranks]: index of the message
  Indices last_end_;           ///< [ranks]
};

}  // namespace

CollectiveSchedule steps_schedule(const StepList& list) {
  StepsBuilder builder(list);
  for (std::uint32_t i = 0; i < list.steps.size(); ++i) builder.add(i);
  return builder.result();
}

}  // namespace outrider::tg
