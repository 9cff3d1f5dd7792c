#pragma once

#include <cstdint>
#include <optional>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/announce/burst_announcer.h"
#include "trafficgen/workload/job/job.h"

namespace outrider::tg {

/// One worker of a job. It computes, has its burst announced, waits as long as the announcer holds
/// the burst, releases it to the job's CollectiveOperation, and begins the next iteration when the
/// collective is done.
class Worker final : private TimerClient, private BurstAnnouncer::Client {
 public:
  Worker(Job& job, std::uint32_t index, Host& host);
  ~Worker() = default;

  /// Starts the worker with the job: opens kept connections and plans iteration 0.
  void start(Time now);
  /// The worker has received all that it waited for in that iteration.
  void on_done(std::uint32_t iteration, Time now) noexcept;
  /// The parameters of a piece of that tensor have arrived.
  void on_parameters(std::uint32_t tensor, Time now) noexcept {
    if (forward_) forward_->on_piece(tensor, now);
  }
  /// The worker does not compute from `from` to `to`: gradients become ready later, and so does
  /// the next forward pass. @pre `to` is at most the beginning of the next such time
  void on_blocked(Time from, Time to) noexcept;
  [[nodiscard]] const BurstAnnouncer& announcer() const noexcept { return announcer_; }

 private:
  enum Tag : std::uint32_t { kGradientsReady, kJobStarts, kTags };

  void begin_job(Time now) noexcept;
  void begin_iteration(std::uint32_t iteration, Time now) noexcept;
  void set_timer(Tag tag, Time at) noexcept;
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  // BurstAnnouncer::Client
  BurstPlace next_place(std::uint32_t target) noexcept override;
  [[nodiscard]] FlowKey flow(std::uint32_t target) const noexcept override;
  BurstRecord& burst(std::uint32_t iteration) noexcept override;
  void on_hold_ended(Time now) noexcept override { release_if_ready(now); }

  void release_if_ready(Time now) noexcept;
  void take_ready(Time now) noexcept;
  void end_iteration(Time now) noexcept;
  void note_nic(IterationRecord& record) noexcept;
  [[nodiscard]] const IterationPlanner& planner() const noexcept {
    return job_.iterations().planner();
  }
  [[nodiscard]] Time ready_at(std::size_t piece) const noexcept {
    return planner().ready_at(plan_, piece) + blocked_;
  }
  [[nodiscard]] BurstRecord& record() noexcept { return burst(iteration_); }

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  BurstAnnouncer announcer_;
  std::optional<ForwardPass> forward_;  ///< if the planner is by_tensor()
  std::uint64_t nic_sent_bytes_ = 0;    ///< wire bytes, when the last iteration had ended
  std::uint64_t nic_received_bytes_ = 0;
  std::uint32_t iteration_ = 0;
  IterationPlan plan_{};
  Duration blocked_{};          ///< for how long the backward pass stood still
  std::size_t next_piece_ = 0;  ///< index of the first piece that is not ready yet
  bool ready_ = false;          ///< the first gradients of the iteration are ready
  bool released_ = false;
};

}  // namespace outrider::tg
