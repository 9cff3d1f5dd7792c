#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"
#include "common/net/udp_signal.h"
#include "trafficgen/learner/learner_config.h"
#include "trafficgen/policy/message_config.h"
#include "trafficgen/policy/policy_config.h"
#include "trafficgen/workload/config/collective_config.h"
#include "trafficgen/workload/config/r2sp_config.h"
#include "trafficgen/workload/config/signal_faults_config.h"

namespace outrider::tg {

/// When the worker announces a burst.
enum class LeadSource : std::uint8_t {
  kNone,     ///< never: no START
  kWait,     ///< at gradients ready, which then wait for the ACK and the rest of the lead
  kOverlap,  ///< `lead` before the gradients are due
};

/// What a START looks like on the wire.
enum class SignalForm : std::uint8_t {
  kTos,  ///< the paper's: a segment without payload of the announced flow, in its TOS byte
  kUdp,  ///< a message of its own, with bytes and due time (common/net/udp_signal.h)
};

inline constexpr std::uint32_t kMostRepeats = 16;
inline constexpr std::uint32_t kMostQueuePairsOfBursts = 256;  ///< of two hosts

struct AnnounceConfig {
  LeadSource lead_source = LeadSource::kWait;
  Duration lead{};  ///< minimum from START to burst; zero: the ACK alone
  /// The lead follows what switches tell in ACKs, from `lead` to this, >= lead. Absent: it is fixed
  std::optional<Duration> lead_limit{};
  std::uint16_t threshold_packets = 10;                  ///< h, multiple of 5 up to 75
  Duration ack_timeout = std::chrono::milliseconds(50);  ///< > 0, then the burst leaves anyway
  std::uint32_t repeats = 0;  ///< of a START that is not answered, at most kMostRepeats
  Duration repeat_after = std::chrono::milliseconds(10);  ///< > 0; to the first; then twice as long
  SignalForm signal_form = SignalForm::kTos;
  std::uint16_t signal_port = udp_signal::kDefaultPort;  ///< kUdp: port of both ends, > 0
  std::optional<std::string> signal_key{};               ///< kUdp: path of a key file; signs STARTs
  bool pulls = false;                                    ///< servers announce what they send, too
  SignalFaultsConfig faults{};
};

enum class Schedule : std::uint8_t {
  kClosedLoop,  ///< an iteration begins when the last one has ended
  kFixed,       ///< gradients are due at start + first_due + n * period
};

/// When a worker gets the parameters of its next iteration (parameter servers).
enum class Synchronisation : std::uint8_t {
  kBsp,   ///< bulk: when all workers have pushed this one
  kAsp,   ///< at once
  kSsp,   ///< when nobody is more than `staleness_bound` iterations behind
  kR2sp,  ///< in turn, at least a gap apart
};

/// How the model is divided among the servers.
enum class ShardRule : std::uint8_t {
  kBytes,       ///< equal bytes; tensors may be cut anywhere
  kRoundRobin,  ///< whole tensors, dealt to the servers in forward order
  kBalanced,    ///< whole tensors, largest first, each to the server that holds least
};

/// Distribution of a factor around 1; `jitter` is its only parameter.
enum class JitterShape : std::uint8_t {
  kUniform,      ///< 1 +- jitter
  kNormal,       ///< mean 1, standard deviation jitter, drawn again unless positive
  kLognormal,    ///< mean 1, coefficient of variation jitter
  kExponential,  ///< 1 + exponential of mean jitter: a tail above the nominal time
};

/// Distribution of a straggler's delay, as a multiple of the configured values.
enum class StragglerShape : std::uint8_t {
  kConstant,     ///< 1
  kUniform,      ///< 0 to 2
  kExponential,  ///< mean 1
};

/// Slows some iterations of some workers.
struct StragglerConfig {
  std::vector<std::string> workers{};  ///< workers of the job; empty: all of them
  double share = 1;                    ///< share of iterations, each drawn separately; (0, 1]
  double factor = 1;                   ///< multiplies the compute time, >= 1
  Duration delay{};                    ///< added to the compute time, >= 0
  StragglerShape shape = StragglerShape::kConstant;  ///< of factor - 1 and delay, with one draw
};

struct JobConfig {
  std::string name;
  std::vector<std::string> workers;    ///< host names, 1 to 256
  std::vector<std::string> servers{};  ///< host names; with kPs alone
  std::string transport;
  Collective collective = Collective::kPs;
  AllToAllConfig all_to_all{};
  PipelineConfig pipeline{};
  Synchronisation synchronisation = Synchronisation::kBsp;
  std::optional<std::uint32_t> staleness_bound{};  ///< kSsp [iterations]
  R2spConfig r2sp{};                               ///< kR2sp
  ShardRule shard_by = ShardRule::kBytes;
  SendPolicyKind send_policy = SendPolicyKind::kFifo;
  PolicyConfig policy{};
  MessageConfig message{};
  std::optional<std::string> model{};          ///< path of a profile; or
  std::optional<std::uint64_t> burst_bytes{};  ///< a synthetic burst per worker; or
  std::optional<std::string> steps{};          ///< kSteps: path of a list, see step_list.h
  bool pull = true;                            ///< servers send the parameters back
  std::uint32_t iterations = 1;                ///< at most, >= 1
  Duration start{};                            ///< start of the job, from the start of the run
  std::optional<Duration> stop_after{};        ///< from its start: no iteration begins later
  /// The job runs again at each of these times from `start`, on TCP ports tcp_port + 1, + 2, ...
  std::vector<Duration> arrivals{};
  Schedule schedule = Schedule::kClosedLoop;
  Duration first_due{};               ///< kFixed: gradients of iteration 0, from `start`
  Duration period{};                  ///< kFixed, > 0
  Duration due_jitter{};              ///< kFixed: uniform delay of each due time, by seed
  std::optional<Duration> compute{};  ///< kClosedLoop: per iteration; absent: the model's
  double compute_jitter = 0;          ///< per worker and iteration, see `compute_shape`; [0, 1)
  JitterShape compute_shape = JitterShape::kUniform;
  double batch_jitter = 0;                ///< like compute_jitter, one draw for all workers
  std::vector<double> compute_factors{};  ///< [workers], heterogeneous machines; empty: all 1
  std::vector<StragglerConfig> stragglers{};
  Duration aggregate{};  ///< server: last gradient to first parameter
  AnnounceConfig announce{};
  LearnerConfig learner{};
  std::uint16_t tcp_port = 5000;  ///< of the servers; job i of a file should use its own
  std::uint32_t queue_pairs = 1;  ///< over RoCEv2: of a worker and each of its targets
};

/// Checks single tables, for files that hold them in another place.
void check(const Checks& at, const AnnounceConfig& announce);
/// Checks all rules of a job except those that refer to hosts, transports and other jobs.
void check(const Checks& at, const JobConfig& job);

/// Returns the hosts on which the job listens: its servers, or all workers if it has none.
[[nodiscard]] inline const std::vector<std::string>& listeners_of(const JobConfig& job) {
  return has_servers(job.collective) ? job.servers : job.workers;
}
/// Returns how many connections may be open at once: one for each worker and target, as many
/// times as the job runs.
[[nodiscard]] inline std::uint64_t connections_of(const JobConfig& job) {
  const std::uint64_t pairs = has_servers(job.collective)
                                  ? job.workers.size() * job.servers.size()
                                  : lanes_among(job.collective, job.workers.size());
  return pairs * (job.arrivals.size() + 1);
}
/// Returns the micro-batches of a pipeline. GPipe (Huang et al., NeurIPS 2019, section 2.3) finds
/// the idle time of stages negligible from 4 for each stage.
[[nodiscard]] inline std::uint32_t micro_batches_of(const JobConfig& job) {
  return job.pipeline.micro_batches.value_or(4 * static_cast<std::uint32_t>(job.workers.size()));
}
/// Returns the configuration of the job's n-th arrival: 0 is the first, n that of arrivals[n - 1].
[[nodiscard]] JobConfig arrival(const JobConfig& job, std::size_t n);

// Bindings, see common/config/config_binding.h.

inline constexpr double kMaxJobFactor = 1000;  ///< limit of factors of compute time

inline constexpr auto kLeadSources = choices<LeadSource>(
    {{"none", LeadSource::kNone}, {"wait", LeadSource::kWait}, {"overlap", LeadSource::kOverlap}});
inline constexpr auto kSignalForms =
    choices<SignalForm>({{"tos", SignalForm::kTos}, {"udp", SignalForm::kUdp}});
inline constexpr auto kSchedules =
    choices<Schedule>({{"closed_loop", Schedule::kClosedLoop}, {"fixed", Schedule::kFixed}});
inline constexpr auto kSynchronisations =
    choices<Synchronisation>({{"bsp", Synchronisation::kBsp},
                              {"asp", Synchronisation::kAsp},
                              {"ssp", Synchronisation::kSsp},
                              {"r2sp", Synchronisation::kR2sp}});
inline constexpr auto kShardRules = choices<ShardRule>({{"bytes", ShardRule::kBytes},
                                                        {"round_robin", ShardRule::kRoundRobin},
                                                        {"balanced", ShardRule::kBalanced}});
inline constexpr auto kJitterShapes =
    choices<JitterShape>({{"uniform", JitterShape::kUniform},
                          {"normal", JitterShape::kNormal},
                          {"lognormal", JitterShape::kLognormal},
                          {"exponential", JitterShape::kExponential}});
inline constexpr auto kStragglerShapes =
    choices<StragglerShape>({{"constant", StragglerShape::kConstant},
                             {"uniform", StragglerShape::kUniform},
                             {"exponential", StragglerShape::kExponential}});

void describe(Settings& v, AnnounceConfig& c);
void describe(Settings& v, StragglerConfig& c);
void describe(Settings& v, JobConfig& c);

}  // namespace outrider::tg
