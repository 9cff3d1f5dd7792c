#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/core/signal_key.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/apps/generator_hosts.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/workload/job/job.h"
#include "trafficgen/workload/job/tensorlights.h"

namespace outrider::tg {

/// The jobs of a generator, and TensorLights at the hosts of their servers.
class GeneratorJobs {
 public:
  /// @param config,options,hosts,goodput must outlive this object
  /// @throws std::runtime_error if a model profile or a signal key cannot be read
  GeneratorJobs(const GeneratorConfig& config, const Generator::Options& options,
                const GeneratorHosts& hosts, GoodputSeries& goodput);

  /// Returns the jobs: those of the file keep their positions, and their later arrivals follow.
  /// Null where another lcore has a job.
  [[nodiscard]] const std::vector<std::unique_ptr<Job>>& all() const noexcept { return jobs_; }
  void start(Time now) const;
  /// Returns true if those of the share have ended.
  [[nodiscard]] bool finished() const noexcept;

 private:
  void make_job(const JobConfig& job, std::uint16_t draws_as, std::uint32_t first_iteration);
  void make_tensorlights();
  /// Sets the job's bytes, and when they are ready.
  static void size_up(const JobConfig& job, Job::Setup& setup);
  /// @throws std::runtime_error if the key's file is no key file
  [[nodiscard]] SignalKey signal_key(const std::string& name) const;
  /// Returns the class of a job at the NIC of each of its servers; none without bands.
  [[nodiscard]] std::vector<std::uint8_t> nic_classes_of(const Job::Setup& setup);

  const GeneratorConfig& config_;
  const Generator::Options& options_;
  const GeneratorHosts& hosts_;
  GoodputSeries& goodput_;
  std::vector<std::unique_ptr<Job>> jobs_;
  /// [hosts][jobs with a server there, in order of their classes from 1]: bytes of the model
  std::vector<std::vector<std::uint64_t>> served_bytes_;
  std::vector<std::unique_ptr<TensorLights>> tensorlights_;
  std::uint32_t next_owner_;  ///< first owner id of the next job; 0: attribution is off
};

}  // namespace outrider::tg
