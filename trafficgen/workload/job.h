#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trafficgen/config/config.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/learner/learner.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/policy/send_policy.h"
#include "trafficgen/report/report.h"
#include "trafficgen/workload/compute_time.h"
#include "trafficgen/workload/exchange/exchange.h"
#include "trafficgen/workload/forward_pass.h"
#include "trafficgen/workload/iteration_limit.h"
#include "trafficgen/workload/job/job_records.h"
#include "trafficgen/workload/ring_schedule.h"
#include "trafficgen/workload/round_robin.h"
#include "trafficgen/workload/signal_faults.h"
#include "trafficgen/workload/staleness_gate.h"

namespace outrider {

class Worker;
class Server;
class RingMember;

/// A training job: W workers and S servers (or a ring), iterations of compute,
/// push, aggregate, pull. It knows the plan (when gradients are due, who has
/// which shard) and keeps the records; workers and servers act on their hosts, and an
/// Exchange carries what they send.
///
/// All records are allocated at construction. Not thread-safe: one lcore owns
/// the job and all its hosts.
class Job final : private Exchange::Listener {
 public:
  struct Setup {
    JobConfig config;
    std::uint16_t id = 0;
    TcpConfig tcp;  ///< mss_bytes is set per connection
    std::vector<Host*> workers;
    std::vector<Host*> servers;                ///< none in a ring
    std::vector<std::uint8_t> nic_classes{};   ///< [servers], at their hosts; empty: none
    std::vector<std::uint64_t> shard_bytes{};  ///< [servers], see even_shards()
    std::uint64_t burst_bytes = 0;             ///< of the model
    /// See pieces_of(); empty: each shard is one, and ready after the backward pass.
    std::vector<GradientPiece> pieces{};
    std::vector<double> ready_shares{};  ///< [tensors] of the backward pass; empty: unknown
    double forward_share = 0;            ///< of the compute time
    std::uint16_t draws_as = 0;          ///< entity of its random draws
    std::uint32_t first_iteration = 0;   ///< of its draws: arrivals go on where others end
    Duration compute{};                  ///< kClosedLoop
    std::uint64_t seed = 1;
    std::uint32_t first_owner = 0;   ///< of its workers, for attribution; 0: off
    std::optional<MltConfig> mlt{};  ///< the bounded-loss transport, not TCP
  };
  Job(const Setup& setup, GoodputSeries& goodput);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Listens, opens kept connections, plans the first iteration. Once.
  void start(Time now);
  /// All workers are through, or will never be, because a peer has fallen silent.
  [[nodiscard]] bool finished() const noexcept {
    return finished_workers_ == workers_.size() || gave_up_ > 0;
  }
  [[nodiscard]] bool gave_up() const noexcept { return gave_up_ > 0; }

  // -- the plan
  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  [[nodiscard]] bool is_ring() const noexcept {
    return setup_.config.collective == Collective::kRing;
  }
  /// @pre is_ring()
  [[nodiscard]] RingSchedule ring_schedule() const noexcept;
  /// Connections of a worker: one to each server, or one to its right neighbour.
  [[nodiscard]] std::uint32_t targets() const noexcept { return targets_; }
  [[nodiscard]] Host& target(std::uint32_t worker, std::uint32_t target) const noexcept;
  /// Bytes of the model that server `server` holds.
  [[nodiscard]] std::uint64_t shard_bytes(std::uint32_t server) const noexcept {
    return setup_.shard_bytes[server];
  }
  /// What a worker sends in an iteration, over all targets.
  [[nodiscard]] std::uint64_t push_bytes(std::uint32_t worker) const noexcept;
  /// @param free_at when the worker may begin the iteration
  struct Plan {
    Time begin{};
    Time gradients_ready{};
    bool late = false;       ///< fixed schedule: due before the worker was free
    bool straggles = false;  ///< a straggler rule slows it
    /// A forward pass that waits for its layers' parameters: its end, and how long it
    /// waited. Else kNever, and forward and backward pass share begin to gradients_ready.
    Time forward_end = kNever;
    Duration forward_wait{};
  };
  /// Of the worker's next iteration; nothing if it was its last.
  /// @param parameters by_tensor(): when which were there; nullptr: all at free_at
  std::optional<Plan> begin(std::uint32_t worker, std::uint32_t iteration, Time free_at,
                            const ForwardPass* parameters = nullptr) noexcept;
  /// Servers answer, and forward passes wait for, every piece by itself.
  [[nodiscard]] bool by_tensor() const noexcept {
    return setup_.config.policy.granularity == Granularity::kTensor;
  }
  /// Of the pushes. Over the bounded-loss transport pieces are told apart in any case.
  [[nodiscard]] PolicyConfig send_policy() const {
    PolicyConfig policy = setup_.config.policy;
    if (setup_.mlt) policy.granularity = Granularity::kTensor;
    return policy;
  }
  /// For a worker to begin with a copy of. @pre by_tensor()
  [[nodiscard]] ForwardPass forward_pass() const;
  /// What the gradients of an iteration consist of, in the order of readiness.
  [[nodiscard]] const std::vector<GradientPiece>& pieces() const noexcept { return pieces_; }
  /// When a piece is ready: see ready_shares(). With kFifo and shards: at the end of the
  /// backward pass.
  [[nodiscard]] Time ready_at(const Plan& plan, std::size_t piece) const noexcept;
  [[nodiscard]] Time start_at() const noexcept { return Time{} + setup_.config.start; }
  /// The piece's part of its lane's bursts.
  [[nodiscard]] std::uint32_t part_of(std::uint32_t piece) const noexcept {
    return part_of_[piece];
  }
  /// Of a push that is released now.
  [[nodiscard]] BurstLedger push_ledger(std::uint32_t worker, std::uint32_t iteration,
                                        Time now) noexcept;

  // -- events, told by workers and servers
  /// A server has the worker's push, or a worker the server's pull, as far as it will come.
  void on_push_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                     const BurstArrival& arrival, Time now) noexcept;
  void on_pull_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                     const BurstArrival& arrival, Time now) noexcept;
  /// Server: its parameters of now leave for the worker.
  void on_answered(std::uint32_t worker, std::uint32_t server) noexcept {
    if (learner_) learner_->answered(worker, server);
  }
  /// R2SP: it is the worker's turn. @param held since its push was there
  void admit(std::uint32_t worker, Duration held, Time now) noexcept;
  /// Server: nothing keeps the worker's answer any more.
  void on_cleared(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept;
  /// Server: the worker's update was applied; the largest of all servers counts.
  void on_staleness(std::uint32_t worker, std::uint32_t iteration, std::uint64_t updates) noexcept;
  /// All parameters are there. @param next when the next forward pass may begin, <= now
  void on_iteration_end(std::uint32_t worker, std::uint32_t iteration, Time next,
                        Time now) noexcept;
  [[nodiscard]] Worker& worker(std::uint32_t index) noexcept { return *workers_[index]; }
  [[nodiscard]] Server& server(std::uint32_t index) noexcept { return *servers_[index]; }
  [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] JobRecords& records() noexcept { return records_; }
  [[nodiscard]] RingMember& ring_member(std::uint32_t index) noexcept { return *ring_[index]; }
  /// Workers go on in turn, whatever a server's own gate says.
  [[nodiscard]] bool in_turn() const noexcept { return round_robin_.has_value(); }
  /// A gate for a server to begin with a copy of.
  [[nodiscard]] const StalenessGate& gate() const noexcept { return gate_; }
  [[nodiscard]] const SignalFaults& faults() const noexcept { return faults_; }

  // -- records
  [[nodiscard]] std::uint64_t delivered_bursts() const noexcept { return delivered_bursts_; }
  [[nodiscard]] std::uint64_t ended_iterations() const noexcept { return ended_iterations_; }
  void fill(GeneratorReport& report) const;
  /// Nothing unless the job learns.
  [[nodiscard]] const std::optional<Learner>& learner() const noexcept { return learner_; }

 private:
  // Exchange::Listener
  void on_part(const Lane& lane, std::uint32_t part, Time now) noexcept override;
  void on_burst(const Lane& lane, const BurstArrival& arrival, Time now) noexcept override;
  void on_acknowledged(const Lane& lane, std::uint64_t bytes, Time now) noexcept override;
  void on_idle(const Lane& lane, Time now) noexcept override;
  /// The job ends here.
  void on_gave_up(Time) noexcept override { ++gave_up_; }

  [[nodiscard]] Plan plan(std::uint32_t worker, std::uint32_t iteration,
                          Time free_at) const noexcept;
  static void note_times(BurstRecord& record, const Host& receiver) noexcept;
  void make_learner();
  void make_round_robin();
  void make_exchange();
  [[nodiscard]] ExchangeSetup exchange_setup() const;
  [[nodiscard]] JobRecords::Setup records_setup() const;
  void make_participants();
  void fill_flows(GeneratorReport& report) const;
  /// When a tensor's gradient is ready, whatever is done with it.
  [[nodiscard]] Time gradient_at(const Plan& plan, std::size_t tensor) const noexcept;
  void make_pieces();

  Setup setup_;
  ComputeTime compute_;
  SignalFaults faults_;
  IterationLimit limit_;
  StalenessGate gate_;  ///< of whole pushes: who is ahead, and who goes on without a pull
  std::optional<Learner> learner_;
  std::optional<RoundRobin> round_robin_;
  std::uint32_t targets_;
  std::vector<GradientPiece> pieces_;
  std::vector<std::uint32_t> part_of_;                 ///< [pieces]: see part_of()
  std::vector<std::vector<std::uint32_t>> pieces_of_;  ///< [targets][parts]
  JobRecords records_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<RingMember>> ring_;  ///< [workers] or none
  std::uint32_t finished_workers_ = 0;
  std::uint64_t delivered_bursts_ = 0;
  std::uint64_t ended_iterations_ = 0;
  std::uint64_t late_iterations_ = 0;
  std::uint64_t gave_up_ = 0;
};

}  // namespace outrider
