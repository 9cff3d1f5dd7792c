#include "trafficgen/workload/collective/scheduled/message_table.h"

#include <algorithm>

namespace outrider::tg {

IndexLists::IndexLists(const std::vector<std::vector<std::uint32_t>>& lists) {
  for (const auto& list : lists) {
    all_.insert(all_.end(), list.begin(), list.end());
    begins_.push_back(all_.size());
  }
}

MessageTable::MessageTable(const CollectiveSchedule& schedule)
    : ranks_(schedule.ranks), received_by_(schedule.ranks, 0) {
  add_lanes(schedule);
  add_waits(schedule);
}

void MessageTable::add_lanes(const CollectiveSchedule& schedule) {
  std::vector<std::vector<std::uint32_t>> sent(ranks_), peers(ranks_);
  std::vector<std::vector<std::vector<std::uint32_t>>> lanes(ranks_);
  for (std::uint32_t i = 0; i < schedule.messages.size(); ++i) {
    const CollectiveMessage& m = schedule.messages[i];
    sent[m.from].push_back(i);
    ++received_by_[m.to];
    if (m.from == m.to) {
      rows_.push_back({.from = m.from, .to = m.to, .takes = m.takes, .step = m.step});
      continue;
    }
    const auto peer = std::ranges::find(peers[m.from], m.to);
    const auto target = static_cast<std::uint32_t>(peer - peers[m.from].begin());
    if (peer == peers[m.from].end()) {
      peers[m.from].push_back(m.to);
      lanes[m.from].emplace_back();
    }
    std::vector<std::uint32_t>& lane = lanes[m.from][target];
    rows_.push_back({.from = m.from,
                     .to = m.to,
                     .target = target,
                     .part = static_cast<std::uint32_t>(lane.size()),
                     .bytes = m.bytes,
                     .sums = m.sums});
    lane.push_back(i);
    most_targets_ = std::max(most_targets_, target + 1);
  }
  std::vector<std::vector<std::uint32_t>> on_lane;
  for (auto& of_rank : lanes) {
    of_rank.resize(most_targets_);
    for (auto& lane : of_rank) on_lane.push_back(std::move(lane));
  }
  sent_by_ = IndexLists(sent);
  peers_ = IndexLists(peers);
  on_lane_ = IndexLists(on_lane);
}

void MessageTable::add_waits(const CollectiveSchedule& schedule) {
  std::vector<std::vector<std::uint32_t>> wait_for(schedule.messages.size());
  for (std::uint32_t i = 0; i < schedule.messages.size(); ++i) {
    const CollectiveMessage& m = schedule.messages[i];
    for (const std::uint32_t needed : m.needs) wait_for[needed].push_back(i);
    waits_.push_back(static_cast<std::uint32_t>(m.needs.size()));
  }
  wait_for_ = IndexLists(wait_for);
}

}  // namespace outrider::tg
