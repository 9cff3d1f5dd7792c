#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/burst_ledger.h"
#include "common/core/drop_reason.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/measure/background_floor.h"
#include "tools/lab/measure/burst_peaks.h"
#include "tools/lab/measure/flow_shares.h"
#include "tools/lab/measure/flow_times.h"
#include "tools/lab/measure/job_samples.h"
#include "tools/lab/measure/lossless_drops.h"
#include "tools/lab/measure/metrics_groups.h"
#include "tools/lab/measure/metrics_jobs.h"
#include "tools/lab/measure/metrics_learning.h"
#include "tools/lab/measure/metrics_links.h"
#include "tools/lab/measure/metrics_paths.h"
#include "tools/lab/measure/statistics.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// Returns by how much the switch's clock is ahead of the generator's [ns]. It is zero in
/// virtual time. Between processes it is the median, over bursts joined by identity, of
/// first arrival at the measured queue minus first byte sent. This includes the path
/// from host to queue, so it is too large by less than a base RTT.
std::int64_t clock_offset_ns(Runtime runtime, const sw::QueueReport* queue,
                             const tg::GeneratorReport& traffic);

/// Holds the iterations and bursts of one run as values. An element is one iteration of
/// a job, or one burst where the comment says so. Iterations that did not complete are
/// only in the values of the queue.
struct Samples {
  std::vector<double> start_queue_packets;         ///< background, at the iteration's first packet
  std::vector<double> start_queue_total_packets;   ///< all classes
  std::vector<double> worker_start_queue_packets;  ///< background, at each worker's first packet
  std::vector<double> max_queue_packets;
  JobSamples burst_completion_seconds;  ///< slowest worker
  JobSamples communication_seconds;
  JobSamples first_communication_seconds;   ///< the same of each job's iteration 0
  JobSamples iteration_seconds;             ///< slowest worker
  JobSamples first_layer_seconds;           ///< gradients ready to parameters of tensor 0; slowest
  JobSamples forward_wait_seconds;          ///< wait for later layers' parameters; slowest worker
  std::vector<double> nic_send_idle_share;  ///< first gradient to all parameters; mean of workers
  std::vector<double> nic_receive_idle_share;  ///< the same, receiving
  JobSamples pull_completion_seconds;          ///< slowest worker
  JobSamples collective_bytes;                 ///< sizes of collectives, see bus_factor()
  JobSamples algbw_bits_per_second;            ///< size over communication time
  JobSamples busbw_bits_per_second;
  std::vector<double> burst_throughput_bits_per_second;  ///< per burst
  JobSamples push_seconds;                    ///< per burst: gradients ready to delivered
  std::vector<double> push_delivered_shares;  ///< per burst that was delivered
};

/// Counts of signals that make a run doubtful.
struct SignalCounts {
  std::uint64_t ack_timeouts = 0;
  /// Bursts that regulation or grants of any switch were armed for, if nothing was done in the run.
  std::uint64_t armed_in_vain = 0;
};

/// The fall of the background's goodput around an iteration, and its recovery.
struct BackgroundDip {
  /// Lowest goodput over 10 base RTTs (at least a bin), as a share of that before the iteration.
  Statistics lowest_share;
  Statistics recovery_seconds;      ///< from due to 95 % of the goodput before the iteration
  std::uint64_t not_recovered = 0;  ///< iterations without recovery before the next or the end
};

/// Disturbance of a run by the machine; zero in virtual time.
struct Noise {
  double tolerated_gap_seconds = kNotDefined;  ///< a tenth of the time in which a full queue drains
  std::uint64_t iterations_flagged = 0;        ///< see flag_disturbed()
  std::uint64_t iterations_excluded = 0;       ///< flagged and left out of samples and bursts
};

struct MeasuredQueue {
  std::string switch_name;
  std::string port_name;
  std::uint32_t number = 0;  ///< in the port
  bool found = false;
  std::uint64_t drain_bits_per_second = 0;
  std::uint64_t bursts_not_recorded = 0;
  double regulated_share = kNotDefined;  ///< share of the run's time
};

/// The parts of the communication time of pushes; zero without the parameter `attribution`.
struct Attribution {
  std::uint64_t bursts = 0;                       ///< pushes with attributed times
  std::array<double, kBurstTimes> seconds_sum{};  ///< sums over these pushes
};

/// Everything that is measured about one run.
struct CaseMetrics {
  bool has_job = true;  ///< false: nothing of bursts, iterations and jobs is measured
  Samples samples;
  Statistics burst_sojourn_seconds;
  Statistics interval_sojourn_seconds;
  double ddl_total_throughput_bits_per_second = kNotDefined;  ///< total bytes / total time
  double background_goodput_bits_per_second = kNotDefined;
  double ddl_goodput_bits_per_second = kNotDefined;  ///< over the same time, both directions
  double measured_from_seconds = 0;  ///< span of both goodputs: from the earliest due less lead
  double measured_to_seconds = 0;    ///< to the end of the run, or of its series of bins
  bool background_silent = false;    ///< the case has background; none was delivered in this span
  std::uint64_t iterations = 0;      ///< iterations of all jobs
  std::uint64_t incomplete = 0;      ///< iterations in which a worker's push was not delivered
  std::uint64_t late = 0;
  std::uint64_t push_bursts = 0;
  double push_bytes = 0;  ///< bytes of all these bursts
  std::uint64_t push_rtos = 0;
  Attribution attribution;
  double job_completion_seconds = kNotDefined;  ///< the slowest job; NaN if one did not end
  JobsMetrics jobs;
  LinkMetrics links;
  std::optional<std::uint64_t> device_rx_missed = 0;  ///< at the switches; absent: not counted
  std::optional<std::uint64_t> device_rx_nombuf = 0;
  std::optional<std::uint64_t> device_rx_errors = 0;
  bool devices_count = true;  ///< all that they lose, each device
  PathBalance paths;
  MeasuredQueue queue;
  SignalCounts signals;
  tg::RoceCounters roce;  ///< of all queue pairs; zero without any
  bool lossless = false;  ///< some queue of a switch is lossless (PFC)
  LosslessDrops lossless_drops;
  BackgroundDip background_dip;
  BackgroundFloor background_floor;
  BurstPeaks burst_peaks;
  FlowShares flow_shares;
  FlowTimes flow_times;
  RequestTimes request_times;
  CaptureTotals captures;
  std::vector<GroupMetrics> groups{};  ///< of background; empty without [[background]]
  LearningMetrics learning;
  Noise noise;
  /// How often a connection of a host waited for tg::TransportMemory, or a NIC for a packet buffer:
  /// limits of the generator and not of what it stands for.
  std::uint64_t memory_waits = 0;
  bool series_cut = false;  ///< the places of a series were used up before the run was over
  std::uint64_t packets_not_captured = 0;  ///< that left observed ports after their bound
  std::uint64_t records_not_kept = 0;      ///< flows and requests beyond those that are observed
  bool ledger_balanced = false;
};

/// The values of the same case without background, with which metrics are compared.
struct AloneMetrics {
  JobSamples communication_seconds;
  JobSamples iteration_seconds;  ///< slowest worker
  std::uint64_t incomplete = 0;  ///< iterations that did not end
  std::uint64_t push_bursts = 0;
  std::uint64_t push_rtos = 0;
};

AloneMetrics measure_alone(const Case& definition, const RunResult& alone);

/// Says whether iterations that the machine disturbed count.
enum class Flagged : std::uint8_t { kKept, kExcluded };

/// Measures everything about one run for which no other run is needed. Never fails:
/// missing records only make counts smaller.
CaseMetrics measure(const Case& definition, Runtime runtime, const RunResult& result,
                    Flagged flagged = Flagged::kKept);

}  // namespace outrider::lab
