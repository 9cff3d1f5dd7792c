#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/config.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/flow_totals.h"
#include "trafficgen/report.h"
#include "trafficgen/workload/compute_time.h"
#include "trafficgen/workload/iteration_limit.h"

namespace outrider {

class Worker;
class Server;

/// A training job: W workers, S servers, bulk-synchronous iterations of compute,
/// push, aggregate, pull. It knows the plan (when gradients are due, who has
/// which shard) and keeps the records; workers and servers act on their hosts.
///
/// All records are allocated at construction. Not thread-safe: one lcore owns
/// the job and all its hosts.
class Job {
 public:
  struct Setup {
    JobConfig config;
    std::uint16_t id = 0;
    TcpConfig tcp;  ///< mss_bytes is set per connection
    std::vector<Host*> workers;
    std::vector<Host*> servers;
    std::uint64_t burst_bytes = 0;  ///< per worker and direction, over all servers
    Duration compute{};             ///< kClosedLoop
    std::uint64_t seed = 1;
  };
  Job(const Setup& setup, GoodputSeries& goodput);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Listens, opens kept connections, plans the first iteration. Once.
  void start(Time now);
  [[nodiscard]] bool finished() const noexcept { return finished_workers_ == workers_.size(); }

  // -- the plan
  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  /// Bytes of the model that server `server` holds.
  [[nodiscard]] std::uint64_t shard_bytes(std::uint32_t server) const noexcept;
  /// @param free_at when the worker may begin the iteration
  struct Plan {
    Time begin{};
    Time gradients_ready{};
    bool late = false;       ///< fixed schedule: due before the worker was free
    bool straggles = false;  ///< a straggler rule slows it
  };
  /// Of the worker's next iteration; nothing if it was its last.
  std::optional<Plan> begin(std::uint32_t worker, std::uint32_t iteration, Time free_at) noexcept;
  [[nodiscard]] Time start_at() const noexcept { return Time{} + setup_.config.start; }
  /// Transport settings of a connection that starts at `host`, identity option included.
  [[nodiscard]] const TcpConfig& tcp() const noexcept { return tcp_; }

  // -- events, told by workers and servers
  void on_push_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                     Time now) noexcept;
  void on_pull_shard(std::uint32_t worker, std::uint32_t server, std::uint32_t iteration,
                     Time now) noexcept;
  void on_iteration_end(std::uint32_t worker, std::uint32_t iteration, Time now) noexcept;
  void on_ack_timeout() noexcept { ++ack_timeouts_; }

  // -- records
  [[nodiscard]] BurstRecord& burst(std::uint32_t worker, std::uint32_t iteration,
                                   BurstDirection d) noexcept;
  [[nodiscard]] FlowTotals& push_flow(std::uint32_t worker, std::uint32_t server) noexcept;
  [[nodiscard]] FlowTotals& pull_flow(std::uint32_t worker, std::uint32_t server) noexcept;
  void fill(GeneratorReport& report) const;

 private:
  [[nodiscard]] Plan plan(std::uint32_t worker, std::uint32_t iteration,
                          Time free_at) const noexcept;
  void note_sender(BurstRecord& record, const TcpConnection* sender, Time now) noexcept;
  [[nodiscard]] std::size_t burst_index(std::uint32_t worker, std::uint32_t iteration,
                                        BurstDirection d) const noexcept;

  Setup setup_;
  TcpConfig tcp_;
  ComputeTime compute_;
  IterationLimit limit_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<BurstRecord> bursts_;            ///< [iteration][worker][direction]
  std::vector<std::uint32_t> shards_missing_;  ///< like bursts_
  std::vector<IterationRecord> iterations_;    ///< [iteration][worker]
  std::vector<std::uint32_t> pushes_missing_;  ///< [iteration], workers
  std::vector<FlowTotals> flows_;              ///< [worker][server][direction]
  std::uint32_t finished_workers_ = 0;
  std::uint64_t late_iterations_ = 0;
  std::uint64_t ack_timeouts_ = 0;
};

}  // namespace outrider
