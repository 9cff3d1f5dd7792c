#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/hosts/host.h"
#include "trafficgen/workload/announce/pull_starts.h"
#include "trafficgen/workload/announce/signal_faults.h"
#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/exchange/exchange.h"
#include "trafficgen/workload/exchange/job_records.h"
#include "trafficgen/workload/job/job_iterations.h"
#include "trafficgen/workload/job/job_setup.h"
#include "trafficgen/workload/job/jobs_report.h"

namespace outrider::tg {

class Worker;

/// A training job: W workers and S servers (or workers alone) that repeat iterations of compute,
/// push, aggregate and pull. The job makes its parts and reports what they did. Its JobIterations
/// decide when gradients are due and who goes on, its CollectiveOperation decides who sends what to
/// whom, and its Exchange carries the bytes.
///
/// All records are allocated at construction. Not thread-safe: one lcore owns the job and all its
/// hosts.
class Job final {
 public:
  using Setup = JobSetup;

  Job(const Setup& setup, GoodputSeries& goodput);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Listens, opens the kept connections and plans the first iteration. Call it once.
  void start(Time now);
  /// Returns true when all workers have finished, or never will because a peer has fallen silent.
  [[nodiscard]] bool finished() const noexcept {
    return iterations_.counts().finished_workers == workers_.size() || gave_up();
  }
  [[nodiscard]] bool gave_up() const noexcept { return iterations_.counts().lost_bursts > 0; }

  // -- the parts, which act on each other
  [[nodiscard]] const Setup& setup() const noexcept { return setup_; }
  /// Returns the lanes, as the collective has planned them.
  [[nodiscard]] const ExchangeSetup& lanes() const noexcept { return lanes_; }
  [[nodiscard]] JobIterations& iterations() noexcept { return iterations_; }
  [[nodiscard]] CollectiveOperation& collective() noexcept { return *collective_; }
  [[nodiscard]] Exchange& exchange() noexcept { return *exchange_; }
  [[nodiscard]] Worker& worker(std::uint32_t index) noexcept { return *workers_[index]; }
  [[nodiscard]] JobRecords& records() noexcept { return records_; }
  [[nodiscard]] const SignalFaults& faults() const noexcept { return faults_; }

  // -- records
  /// Returns the current counts. The cost depends on the number of workers.
  [[nodiscard]] JobLive live() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return setup_.config.name; }
  void fill(JobsReport& report) const;

 private:
  void fill_flows(JobsReport& report) const;

  Setup setup_;
  JobIterations iterations_{*this};
  SignalFaults faults_;
  PullStarts pull_starts_;
  std::unique_ptr<CollectiveOperation> collective_;
  ExchangeSetup lanes_;
  JobRecords records_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace outrider::tg
