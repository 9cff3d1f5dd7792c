#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/learner/learner.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/roce/roce_config.h"
#include "trafficgen/workload/announce/pull_starts.h"
#include "trafficgen/workload/announce/signal_faults.h"
#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/exchange/exchange.h"
#include "trafficgen/workload/exchange/gradient_magnitudes.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/job/jobs_report.h"
#include "trafficgen/workload/plan/iteration_planner.h"
#include "trafficgen/workload/sync/iteration_limit.h"
#include "trafficgen/workload/sync/round_robin.h"
#include "trafficgen/workload/sync/staleness_gate.h"

namespace outrider::tg {

class Worker;

/// A training job: W workers and S servers (or workers alone) that repeat iterations of compute,
/// push, aggregate and pull. The job assigns the shards and keeps the records. Its IterationPlanner
/// decides when gradients are due, its CollectiveOperation decides who sends what to whom, and its
/// Exchange carries the bytes.
///
/// All records are allocated at construction. Not thread-safe: one lcore owns the job and all its
/// hosts.
class Job final : private CollectiveOperation::Owner,
                  private RoundRobin::Owner,
                  private GradientMagnitudes {
 public:
  struct Setup {
    JobConfig config;
    std::uint16_t id = 0;
    TcpConfig tcp;  ///< mss_bytes is set per connection
    std::vector<Host*> workers;
    std::vector<Host*> servers;                ///< none among workers alone
    std::vector<std::uint8_t> nic_classes{};   ///< [servers], at their hosts' NICs; empty: none
    std::vector<std::uint64_t> shard_bytes{};  ///< [servers], see even_shards()
    std::uint64_t burst_bytes = 0;             ///< of all gradients of the model
    /// See pieces_of(). If empty, each shard is one piece, ready after the backward pass.
    std::vector<GradientPiece> pieces{};
    std::vector<double> ready_shares{};  ///< [tensors], shares of the backward pass; empty: unknown
    double forward_share = 0;            ///< share of the compute time
    RecordedTimes recorded{};            ///< for kClosedLoop
    std::uint16_t draws_as = 0;          ///< entity of the job's random draws
    std::uint32_t first_iteration = 0;   ///< added to iterations before drawing, see arrivals
    Duration compute{};                  ///< per iteration, for kClosedLoop
    std::uint64_t seed = 1;
    std::uint32_t first_owner = 0;  ///< first owner id of its workers, for attribution; 0: off
    std::optional<SignalKey> signal_key{};  ///< signs STARTs; absent: they are unsigned
    std::optional<MltConfig> mlt{};         ///< set: bounded-loss transport instead of TCP
    std::optional<RoceConfig> roce{};       ///< set: RoCEv2 instead of TCP
  };
  Job(const Setup& setup, GoodputSeries& goodput);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Listens, opens the kept connections and plans the first iteration. Call it once.
  void start(Time now);
  /// Returns true when all workers have finished, or never will because a peer has fallen silent.
  [[nodiscard]] bool finished() const noexcept {
    return finished_workers_ == workers_.size() || gave_up_ > 0;
  }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_ > 0; }

  // -- the plan
  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  /// Number of lanes of a worker: one to each server, or to each worker that it sends to.
  [[nodiscard]] std::uint32_t targets_of(std::uint32_t worker) const noexcept {
    return lanes_.targets_of(worker);
  }
  [[nodiscard]] Host& target(std::uint32_t worker, std::uint32_t target) const noexcept {
    return *lanes_.ends[lanes_.index_of(worker, target)];
  }
  /// Returns the bytes that a worker sends in an iteration, over all targets.
  [[nodiscard]] std::uint64_t push_bytes(std::uint32_t worker) const noexcept;
  [[nodiscard]] const IterationPlanner& planner() const noexcept { return planner_; }
  /// Plans the worker's next iteration.
  /// @param free_at when the worker may begin the iteration
  /// @param parameters when the worker had which parameters, with by_tensor(); nullptr: it had all
  ///   of them at free_at
  /// @return nothing if the worker has done its last iteration
  std::optional<IterationPlan> begin(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                                     const ForwardPass* parameters = nullptr) noexcept;

  // -- what workers act on
  [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] CollectiveOperation& collective() noexcept { return *collective_; }
  [[nodiscard]] const CollectiveOperation& collective() const noexcept { return *collective_; }
  [[nodiscard]] JobRecords& records() noexcept { return records_; }
  [[nodiscard]] const SignalFaults& faults() const noexcept { return faults_; }
  /// The worker has all parameters. @param next when its next forward pass may begin, <= now
  void on_iteration_end(std::uint32_t worker, std::uint32_t iteration, Time next,
                        Time now) noexcept;

  // -- records
  /// Returns the current counts. The cost depends on the number of workers.
  [[nodiscard]] JobLive live() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return setup_.config.name; }
  void fill(JobsReport& report) const;
  /// Holds nothing unless the job has a learner.
  [[nodiscard]] const std::optional<Learner>& learner() const noexcept { return learner_; }

 private:
  // CollectiveOperation::Owner
  void on_pushed(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                 Time now) noexcept override;
  void on_pulled(const Lane& lane, std::uint32_t iteration, const BurstArrival& arrival,
                 Time now) noexcept override;
  void on_parameters(std::uint32_t worker, std::uint32_t tensor, Time now) noexcept override;
  void on_answered(const Lane& lane) noexcept override;
  void on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept override;
  void on_staleness(std::uint32_t worker, std::uint32_t iteration,
                    std::uint64_t updates) noexcept override;
  void on_blocked(std::uint32_t worker, Time from, Time to) noexcept override;
  void on_done(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept override;
  /// Ends the job.
  void on_lost(Time) noexcept override { ++gave_up_; }
  void admit(std::uint32_t worker, Duration held, Time now) noexcept override;

  // GradientMagnitudes
  /// @pre learner()
  [[nodiscard]] std::optional<double> mean_magnitude(
      std::uint32_t worker, std::uint32_t target, const ByteRange& bytes) const noexcept override {
    return learner_->mean_magnitude(worker, target, bytes);
  }

  static void note_times(BurstRecord& record, Host& receiver) noexcept;
  void make_learner();
  void make_round_robin();
  [[nodiscard]] IterationPlanner::Setup planner_setup() const;
  [[nodiscard]] CollectiveSetup collective_setup() const;
  [[nodiscard]] ExchangeSetup make_lanes() const;
  [[nodiscard]] JobRecords::Setup records_setup() const;
  void fill_flows(JobsReport& report) const;

  Setup setup_;
  IterationPlanner planner_;
  SignalFaults faults_;
  PullStarts pull_starts_;
  IterationLimit limit_;
  StalenessGate gate_;  ///< of whole pushes: who is ahead, and who may go on without a pull
  std::optional<Learner> learner_;
  std::optional<RoundRobin> round_robin_;
  std::unique_ptr<CollectiveOperation> collective_;
  ExchangeSetup lanes_;  ///< as planned by the collective
  JobRecords records_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint32_t finished_workers_ = 0;
  std::uint64_t delivered_bursts_ = 0;
  std::uint64_t ended_iterations_ = 0;
  std::uint64_t late_iterations_ = 0;
  std::uint64_t gave_up_ = 0;
};

/// Returns the DSCP of all packets of a job's bursts; 0 if they have several: over bounded loss it
/// tells their tensor.
[[nodiscard]] std::uint8_t dscp_of_bursts(const Job::Setup& setup) noexcept;

}  // namespace outrider::tg
