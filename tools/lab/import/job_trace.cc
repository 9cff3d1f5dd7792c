#include "tools/lab/import/job_trace.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace outrider::lab {
namespace {

bool share_a_rank(const RankGroup& a, const RankGroup& b) {
  return std::ranges::any_of(
      a, [&b](std::uint32_t rank) { return std::ranges::find(b, rank) != b.end(); });
}

std::string in_bytes(double bytes) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g bytes", bytes);
  return text.data();
}

}  // namespace

bool within_a_server(const RankGroup& group) noexcept {
  return std::ranges::all_of(group, [&group](std::uint32_t rank) {
    return rank / kGpusPerServer == group.front() / kGpusPerServer;
  });
}

std::vector<RankGroup> rank_groups(std::uint32_t ranks, std::uint32_t size, std::uint32_t stride) {
  std::vector<RankGroup> groups;
  for (std::uint32_t block = 0; block < ranks; block += size * stride)
    for (std::uint32_t first = block; first < block + stride; ++first) {
      RankGroup& group = groups.emplace_back();
      for (std::uint32_t i = 0; i < size; ++i) group.push_back(first + i * stride);
    }
  return groups;
}

void LeftOut::add(const std::string& reason, std::uint64_t bytes) {
  auto count = std::ranges::find(counts_, reason, &Count::reason);
  if (count == counts_.end()) count = counts_.insert(count, Count{.reason = reason});
  ++count->cases;
  count->bytes += static_cast<double>(bytes);
}

std::vector<std::string> LeftOut::lines() const {
  std::vector<std::string> lines;
  for (const Count& c : counts_)
    lines.push_back(std::to_string(c.cases) + " " + c.reason +
                    (c.bytes > 0 ? ", " + in_bytes(c.bytes) + " by its words" : ""));
  return lines;
}

StepSequence::StepSequence(std::uint32_t ranks) : all_(ranks) {
  std::iota(all_.begin(), all_.end(), 0U);
  list_.ranks = ranks;
}

StepSequence::Indices StepSequence::add(tg::JobStep step, const Indices& after) {
  step.after.emplace();
  for (const std::uint32_t earlier : after)
    if (share_a_rank(list_.steps[earlier].ranks, step.ranks)) step.after->push_back(earlier);
  messages_ += tg::messages_of(step.kind, step.ranks.size()) + step.after->size();
  if (full()) return after;
  list_.steps.push_back(std::move(step));
  return {static_cast<std::uint32_t>(list_.steps.size() - 1)};
}

void StepSequence::flush() {
  if (pending_ == Duration::zero()) return;
  tail_ = add({.kind = tg::StepKind::kCompute, .ranks = all_, .takes = pending_}, tail_);
  pending_ = {};
}

StepSequence::Indices StepSequence::add_groups(const Part& part, const std::string& name,
                                               const Indices& after) {
  Indices added;
  for (const RankGroup& group : part.groups) {
    if (full()) return after;
    const Indices one =
        add({.name = name, .kind = part.kind, .ranks = group, .bytes = part.bytes}, after);
    added.insert(added.end(), one.begin(), one.end());
  }
  return added;
}

void StepSequence::collective(tg::StepKind kind, const std::vector<RankGroup>& groups,
                              std::uint64_t bytes, const std::string& name) {
  flush();
  tail_ = add_groups({.kind = kind, .groups = groups, .bytes = bytes}, name, tail_);
}

void StepSequence::backward(const Part& inputs, const Part& weights, const std::string& name) {
  pending_ += inputs.takes;
  if (inputs.groups.empty() && weights.groups.empty()) return void(pending_ += weights.takes);
  flush();
  const Indices before = tail_;
  Indices computed = before;
  if (!inputs.groups.empty()) tail_ = add_groups(inputs, name, before);
  if (weights.takes > Duration::zero()) {
    computed =
        add({.name = name, .kind = tg::StepKind::kCompute, .ranks = all_, .takes = weights.takes},
            before);
    if (inputs.groups.empty()) tail_ = computed;
    else tail_.insert(tail_.end(), computed.begin(), computed.end());
  }
  if (weights.groups.empty()) return;
  computed.insert(computed.end(), weights_.begin(), weights_.end());
  weights_ = add_groups(weights, name, computed);
}

tg::StepList StepSequence::take() {
  flush();
  return std::move(list_);
}

std::vector<std::string> described(const tg::StepList& list) {
  std::array<double, tg::kStepKinds.size()> bytes{};
  std::array<std::size_t, tg::kStepKinds.size()> count{};
  for (const tg::JobStep& step : list.steps) {
    ++count[static_cast<std::size_t>(step.kind)];
    bytes[static_cast<std::size_t>(step.kind)] += static_cast<double>(step.bytes);
  }
  std::vector<std::string> lines;
  for (std::size_t kind = 1; kind < count.size(); ++kind)
    if (count[kind] > 0)
      lines.push_back(std::to_string(count[kind]) + " " + std::string(tg::kStepKinds[kind]) + ", " +
                      in_bytes(bytes[kind]) + " in all");
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "computing, at most %.4g s a rank",
                seconds(tg::longest_compute(list)));
  if (count[0] > 0) lines.emplace_back(text.data());
  return lines;
}

}  // namespace outrider::lab
