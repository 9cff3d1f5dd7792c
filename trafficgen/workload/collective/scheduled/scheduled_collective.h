#pragma once

#include <cstdint>
#include <vector>

#include "trafficgen/hosts/timer_queue.h"
#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/collective/scheduled/schedule_progress.h"

namespace outrider::tg {

/// A collective among the workers, without servers, that follows a CollectiveSchedule. A worker's
/// messages to one other worker are the parts of its push on one lane. There are no pulls.
///
/// If its ranks also work, as the steps of a list say, an iteration of a worker begins when all
/// workers have ended the one before: nothing else keeps a rank that only sends from running ahead.
class ScheduledCollective final : public CollectiveOperation, private TimerClient {
 public:
  /// @param schedule has a rank for each worker
  ScheduledCollective(const CollectiveSchedule& schedule, const CollectiveSetup& setup,
                      JobRecords& records, Owner& owner);

  void plan(ExchangeSetup& setup) const override;
  void attach(Exchange& exchange) noexcept override { exchange_ = &exchange; }
  [[nodiscard]] std::uint64_t push_bytes(std::uint32_t worker,
                                         std::uint32_t target) const noexcept override;
  [[nodiscard]] bool answers() const noexcept override { return false; }
  void begin(std::uint32_t, std::uint32_t, Time) noexcept override {}
  void on_ready(std::uint32_t, const GradientPiece&, bool, Time) noexcept override {}
  void on_released(std::uint32_t worker, Time now) noexcept override;
  void more(std::uint32_t, Time) noexcept override {}
  void admit(std::uint32_t, Time) noexcept override {}
  void add_starts(StartCounts&, std::uint64_t&) const override {}

  void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept override;
  void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept override;
  void on_acknowledged(const Lane&, std::uint64_t, Time) noexcept override {}
  void on_idle(const Lane& lane, Time now) noexcept override;
  void on_gave_up(Time now) noexcept override { owner_.on_lost(now); }
  [[nodiscard]] std::span<const StepRecord> steps() const noexcept override { return steps_; }

 private:
  /// Returns the iteration of the burst that arrives next on the lane.
  [[nodiscard]] std::uint32_t& arriving(const Lane& lane) noexcept {
    return arriving_[std::size_t{lane.worker} * table_.most_targets() + lane.target];
  }
  [[nodiscard]] bool may_begin(std::uint32_t worker) const noexcept;
  void begin_if_waiting(std::uint32_t worker, Time now) noexcept;
  /// A worker has worked for as long as the message takes.
  void on_timer(std::uint32_t message, Time now) noexcept override;
  void work(std::uint32_t message, Time now) noexcept;
  void begin_burst(std::uint32_t worker, Time now) noexcept;
  void send(std::uint32_t message, Time now) noexcept;
  void end_if_done(std::uint32_t worker, Time now) noexcept;

  MessageTable table_;
  std::vector<Host*> workers_;
  JobRecords& records_;
  Owner& owner_;
  Exchange* exchange_ = nullptr;
  ScheduleProgress progress_;
  std::vector<std::uint32_t> arriving_;  ///< [workers x most targets]
  std::vector<bool> waits_;              ///< [workers]: released, and may_begin() did not hold
  // For schedules in which ranks work; else empty.
  std::vector<Time> busy_until_;   ///< [workers]
  std::vector<Time> begun_at_;     ///< [messages]: of a step, when all before it had ended
  std::vector<StepRecord> steps_;  ///< of ended steps, as many as it has room for
  std::uint16_t job_;
};

}  // namespace outrider::tg
