#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/announce/burst_announcer.h"
#include "trafficgen/workload/job.h"

namespace outrider {

/// One worker: computes, has its burst announced and waits as long as the announcer holds
/// it, pushes a shard to every server (or chunks around the ring), waits for the parameters.
class Worker final : private TimerClient, private BurstAnnouncer::Client {
 public:
  Worker(Job& job, std::uint32_t index, Host& host);
  ~Worker();

  /// Begins when the job does: opens kept connections, plans iteration 0.
  void start(Time now);
  /// With pull off: the worker may go on. In a ring: it has every reduced chunk.
  void on_barrier(std::uint32_t iteration, Time now) noexcept;

  [[nodiscard]] Host& host() noexcept { return host_; }
  /// The server's parameters of a piece are there.
  void on_piece_pulled(std::uint32_t piece, Time now) noexcept;
  /// The server's parameters are there.
  void on_pulled(std::uint32_t server, const BurstArrival& arrival, Time now) noexcept;
  /// See Exchange::Listener.
  void on_acknowledged(std::uint32_t server, std::uint64_t bytes, Time now) noexcept;
  [[nodiscard]] const BurstAnnouncer& announcer() const noexcept { return announcer_; }

 private:
  enum Tag : std::uint32_t { kGradientsReady, kJobStarts, kPolicyWakes, kTags };

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
  void push(Time now) noexcept;
  void hand_out(Time now) noexcept;
  void end_iteration(Time now) noexcept;
  void note_nic(IterationRecord& record) noexcept;
  [[nodiscard]] BurstRecord& record() noexcept { return burst(iteration_); }

  Job& job_;
  std::uint32_t index_;
  Host& host_;
  BurstAnnouncer announcer_;
  std::unique_ptr<SendPolicy> policy_;
  Time policy_wakes_at_ = kNever;
  std::optional<ForwardPass> forward_;  ///< if the job is by_tensor()
  std::uint64_t nic_sent_bytes_ = 0;    ///< on the wire, when the last iteration had ended
  std::uint64_t nic_received_bytes_ = 0;
  std::uint32_t iteration_ = 0;
  Job::Plan plan_{};
  std::size_t next_piece_ = 0;  ///< first that is not ready yet
  bool ready_ = false;          ///< gradients of the iteration
  bool released_ = false;
  std::uint32_t pulls_missing_ = 0;
};

}  // namespace outrider
