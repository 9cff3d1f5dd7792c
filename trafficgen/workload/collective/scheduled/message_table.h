#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {

/// Lists of indices, one list after another in one array. Immutable.
class IndexLists {
 public:
  IndexLists() = default;
  explicit IndexLists(const std::vector<std::vector<std::uint32_t>>& lists);
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t list) const noexcept {
    return {all_.data() + begins_[list], begins_[list + 1] - begins_[list]};
  }
  [[nodiscard]] std::size_t size() const noexcept { return begins_.size() - 1; }

 private:
  std::vector<std::size_t> begins_{0};
  std::vector<std::uint32_t> all_;
};

/// A schedule in the form that its execution needs: which lane carries what, and which messages
/// wait for which. Lanes of a rank are in the order of its first message on each; parts of a lane
/// are in the order of its messages. Immutable after construction.
class MessageTable {
 public:
  struct Row {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t target = 0;  ///< lane of `from`
    std::uint32_t part = 0;    ///< of that lane's bursts
    std::uint64_t bytes = 0;
    bool sums = false;
    Duration takes{};
    std::uint32_t step = kNoStep;
    /// The rank works, and sends nothing. Then `target` and `part` are of no use.
    [[nodiscard]] bool works() const noexcept { return from == to; }
  };
  explicit MessageTable(const CollectiveSchedule& schedule);

  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] const Row& row(std::uint32_t message) const noexcept { return rows_[message]; }
  /// Messages of a rank, in the order of sending.
  [[nodiscard]] std::span<const std::uint32_t> sent_by(std::uint32_t rank) const noexcept {
    return sent_by_[rank];
  }
  /// Number of messages that a rank receives.
  [[nodiscard]] std::uint32_t received_by(std::uint32_t rank) const noexcept {
    return received_by_[rank];
  }
  /// Number of lanes of a rank.
  [[nodiscard]] std::uint32_t targets_of(std::uint32_t rank) const noexcept {
    return static_cast<std::uint32_t>(peers_[rank].size());
  }
  [[nodiscard]] std::uint32_t most_targets() const noexcept { return most_targets_; }
  /// Returns the rank at the end of a lane. @pre target < targets_of(rank)
  [[nodiscard]] std::uint32_t peer(std::uint32_t rank, std::uint32_t target) const noexcept {
    return peers_[rank][target];
  }
  /// Messages of a lane by part. Lanes that a rank does not have are empty.
  [[nodiscard]] std::span<const std::uint32_t> on_lane(std::uint32_t rank,
                                                       std::uint32_t target) const noexcept {
    return on_lane_[std::size_t{rank} * most_targets_ + target];
  }
  /// Messages that wait for this one to arrive.
  [[nodiscard]] std::span<const std::uint32_t> wait_for(std::uint32_t message) const noexcept {
    return wait_for_[message];
  }
  /// How many arrivals each message waits for, beside its rank's own data.
  [[nodiscard]] const std::vector<std::uint32_t>& waits() const noexcept { return waits_; }

 private:
  void add_lanes(const CollectiveSchedule& schedule);
  void add_waits(const CollectiveSchedule& schedule);

  std::uint32_t ranks_;
  std::uint32_t most_targets_ = 0;
  std::vector<Row> rows_;
  IndexLists sent_by_;  ///< [ranks]
  IndexLists peers_;    ///< [ranks][targets]
  IndexLists on_lane_;  ///< [ranks x most targets][parts]
  IndexLists wait_for_;
  std::vector<std::uint32_t> received_by_;  ///< [ranks]
  std::vector<std::uint32_t> waits_;        ///< [messages]
};

}  // namespace outrider::tg
