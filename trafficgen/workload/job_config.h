#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider {

/// When the worker announces a burst.
enum class LeadSource : std::uint8_t {
  kNone,     ///< never: no START
  kWait,     ///< at gradients ready, which then wait for the ACK and the rest of the lead
  kOverlap,  ///< `lead` before the gradients are due
};

struct AnnounceConfig {
  LeadSource lead_source = LeadSource::kWait;
  Duration lead{};                       ///< START to burst, at least; zero: the ACK alone
  std::uint16_t threshold_packets = 10;  ///< h, multiple of 5 up to 75
  Duration ack_timeout = std::chrono::milliseconds(50);  ///< > 0, then the burst leaves anyway
};

enum class Schedule : std::uint8_t {
  kClosedLoop,  ///< an iteration begins when the last one has ended
  kFixed,       ///< gradients are due at start + first_due + n * period
};

/// Distribution of a factor around 1; `jitter` is its only parameter.
enum class JitterShape : std::uint8_t {
  kUniform,      ///< 1 +- jitter
  kNormal,       ///< mean 1, standard deviation jitter, drawn again unless positive
  kLognormal,    ///< mean 1, coefficient of variation jitter
  kExponential,  ///< 1 + exponential of mean jitter: a tail above the nominal time
};

/// Size of a straggler's slowness, as a multiple of what is configured.
enum class StragglerShape : std::uint8_t {
  kConstant,     ///< 1
  kUniform,      ///< 0 to 2
  kExponential,  ///< mean 1
};

/// Slows some iterations of some workers.
struct StragglerConfig {
  std::vector<std::string> workers{};  ///< of the job; empty: all of them
  double share = 1;                    ///< of iterations, each drawn on its own; (0, 1]
  double factor = 1;                   ///< compute time is multiplied by it, >= 1
  Duration delay{};                    ///< and this is added, >= 0
  StragglerShape shape = StragglerShape::kConstant;  ///< of factor - 1 and delay, one draw
};

struct JobConfig {
  std::string name;
  std::vector<std::string> workers;  ///< host names, 1 to 256
  std::vector<std::string> servers;  ///< host names; the model is split evenly
  std::string transport;
  std::optional<std::string> model{};          ///< path of a profile; or
  std::optional<std::uint64_t> burst_bytes{};  ///< a synthetic burst per worker
  bool pull = true;                            ///< servers send the parameters back
  std::uint32_t iterations = 1;                ///< at most, >= 1
  Duration start{};                            ///< of the job, from the start of the run
  std::optional<Duration> stop_after{};        ///< from `start`: no iteration begins later
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
  std::uint16_t tcp_port = 5000;  ///< of the servers; job i of a file should use its own
};

/// Rules of single parts, for files that hold these tables in another place.
void check(const Checks& at, const AnnounceConfig& announce);
/// All rules of a job but those that refer to hosts, transports and other jobs.
void check(const Checks& at, const JobConfig& job);

// Bindings, see common/config/config_binding.h.

inline constexpr auto kLeadSources = choices<LeadSource>(
    {{"none", LeadSource::kNone}, {"wait", LeadSource::kWait}, {"overlap", LeadSource::kOverlap}});
inline constexpr auto kSchedules =
    choices<Schedule>({{"closed_loop", Schedule::kClosedLoop}, {"fixed", Schedule::kFixed}});
inline constexpr auto kJitterShapes =
    choices<JitterShape>({{"uniform", JitterShape::kUniform},
                          {"normal", JitterShape::kNormal},
                          {"lognormal", JitterShape::kLognormal},
                          {"exponential", JitterShape::kExponential}});
inline constexpr auto kStragglerShapes =
    choices<StragglerShape>({{"constant", StragglerShape::kConstant},
                             {"uniform", StragglerShape::kUniform},
                             {"exponential", StragglerShape::kExponential}});

template <class V>
void describe(V& v, AnnounceConfig& c) {
  v.choice("lead_source", c.lead_source, kLeadSources);
  v.duration("lead", c.lead);
  v.value("threshold_packets", c.threshold_packets);
  v.duration("ack_timeout", c.ack_timeout);
}

template <class V>
void describe(V& v, StragglerConfig& c) {
  v.value("workers", c.workers);
  v.share("share", c.share);
  v.value("factor", c.factor);
  v.duration("delay", c.delay);
  v.choice("shape", c.shape, kStragglerShapes);
}

template <class V>
void describe(V& v, JobConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("workers", c.workers, Presence::kRequired);
  v.value("servers", c.servers, Presence::kRequired);
  v.value("transport", c.transport, Presence::kRequired);
  v.value("model", c.model);
  v.bytes("burst_bytes", c.burst_bytes);
  v.value("pull", c.pull);
  v.value("iterations", c.iterations);
  v.duration("start", c.start);
  v.duration("stop_after", c.stop_after);
  v.choice("schedule", c.schedule, kSchedules);
  v.duration("first_due", c.first_due);
  v.duration("period", c.period);
  v.duration("due_jitter", c.due_jitter);
  v.duration("compute", c.compute);
  v.share("compute_jitter", c.compute_jitter);
  v.choice("compute_shape", c.compute_shape, kJitterShapes);
  v.share("batch_jitter", c.batch_jitter);
  v.value("compute_factors", c.compute_factors);
  v.duration("aggregate", c.aggregate);
  v.value("tcp_port", c.tcp_port);
  v.table("announce", c.announce);
  v.tables("straggler", c.stragglers);
}

}  // namespace outrider
