#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/measure/job_report.h"
#include "trafficgen/workload/exchange/lane.h"

namespace outrider::tg {

/// Holds the measurements of a job: its bursts, iterations and flows. All memory is allocated at
/// construction. Not thread-safe.
class JobRecords {
 public:
  struct Setup {
    std::uint32_t iterations = 0;
    std::uint32_t workers = 0;
    std::uint32_t targets = 0;              ///< the most that a worker has
    std::vector<std::uint32_t> lanes{};     ///< [workers]: targets of each; empty: `targets`
    std::vector<std::string> flow_names{};  ///< [worker][target][push, pull]
  };
  /// @param goodput must outlive the records
  JobRecords(const Setup& setup, GoodputSeries& goodput)
      : workers_(setup.workers), targets_(setup.targets) {
    bursts_.resize(std::size_t{setup.iterations} * workers_ * 2);
    lanes_missing_.assign(bursts_.size(), targets_);
    for (std::size_t i = 0; i < bursts_.size() && !setup.lanes.empty(); ++i)
      lanes_missing_[i] = setup.lanes[i / 2 % workers_];
    iterations_.resize(std::size_t{setup.iterations} * workers_);
    flows_.reserve(setup.flow_names.size());
    for (const std::string& name : setup.flow_names)
      flows_.emplace_back(name, TrafficClass::kDdl, goodput);
  }

  [[nodiscard]] BurstRecord& burst(std::uint32_t worker, std::uint32_t iteration,
                                   BurstDirection d) noexcept {
    return bursts_[index_of(worker, iteration, d)];
  }
  [[nodiscard]] BurstRecord& burst(const BurstIdentity& burst) noexcept {
    return this->burst(burst.worker, burst.iteration, burst.direction);
  }
  [[nodiscard]] IterationRecord& iteration(std::uint32_t worker, std::uint32_t iteration) noexcept {
    return iterations_[std::size_t{iteration} * workers_ + worker];
  }
  [[nodiscard]] FlowTotals& flow(const Lane& lane) noexcept {
    return flows_[(std::size_t{lane.worker} * targets_ + lane.target) * 2 +
                  (lane.direction == BurstDirection::kPull ? 1 : 0)];
  }
  /// Counts one more lane as having its part of the burst. @return true if all lanes have
  [[nodiscard]] bool complete_lane(const Lane& lane, std::uint32_t iteration) noexcept {
    return --lanes_missing_[index_of(lane.worker, iteration, lane.direction)] == 0;
  }
  /// Counts a connection that was reset because more bytes arrived than were handed over.
  void note_excess() noexcept { ++excess_resets_; }
  [[nodiscard]] std::uint64_t excess_resets() const noexcept { return excess_resets_; }
  /// Notes that bytes of the burst left at that time; the earliest time is kept.
  static void note_first_sent(BurstRecord& record, std::optional<Time> at) noexcept {
    if (!at) return;
    const auto ns = at->time_since_epoch().count();
    record.first_sent_ns =
        record.first_sent_ns == kNotYet_ns ? ns : std::min(record.first_sent_ns, ns);
  }

  /// [iteration][worker][direction]
  [[nodiscard]] const std::vector<BurstRecord>& bursts() const noexcept { return bursts_; }
  /// [iteration][worker]
  [[nodiscard]] const std::vector<IterationRecord>& iterations() const noexcept {
    return iterations_;
  }

 private:
  [[nodiscard]] std::size_t index_of(std::uint32_t worker, std::uint32_t iteration,
                                     BurstDirection d) const noexcept {
    return (std::size_t{iteration} * workers_ + worker) * 2 + (d == BurstDirection::kPull ? 1 : 0);
  }

  std::uint32_t workers_;
  std::uint32_t targets_;
  std::vector<BurstRecord> bursts_;
  std::vector<std::uint32_t> lanes_missing_;  ///< like bursts_
  std::vector<IterationRecord> iterations_;
  std::vector<FlowTotals> flows_;  ///< [worker][target][direction]
  std::uint64_t excess_resets_ = 0;
};

}  // namespace outrider::tg
