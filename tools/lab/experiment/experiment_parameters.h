#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/config_binding.h"
#include "switch/config/config_toml.h"
#include "switch/config/regulation_config.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/program_settings.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {

/// How the link is shared. All but kFifo give DDL data a queue of its own, with the limit
/// of the background's beside it: more room than one queue has.
enum class LabScheduler : std::uint8_t {
  kFifo,
  kDwrr,         ///< ddl_weight to 1
  kStrictFloor,  ///< DDL data first, but for background_floor of the link
};

/// Equal-cost ways between switches.
enum class LabPaths : std::uint8_t {
  kOne,    ///< the first of them in the order of the file
  kFlow,   ///< a flow keeps one
  kSpray,  ///< packets take turns
};

/// Every named parameter of a case: what [parameters] of an experiment gives,
/// what an arm, a [[vary]] or a [[cross]] may change. The order is that of
/// Case::parameters; the names in the file stand in describe(). One RTT is
/// network.rtt of the experiment. What is one setting of a program is none of
/// these: see program_settings.h.
struct CaseParameters {
  // The regulator. These and `switch.regulation.*` alone may differ between off and on
  // cases that belong together: comparisons pair cases by all the others.
  RegulationMode regulation = RegulationMode::kOff;
  Recovery recovery = Recovery::kArrival;
  double lead_rtts = 1;  ///< START to burst, at least
  tg::LeadSource lead_source = tg::LeadSource::kWait;
  bool spare_ddl = false;
  /// Shares of announcements, and how far they are shifted; [job.announce.faults].
  double signal_lost = 0;
  double signal_late = 0;
  double signal_late_rtts = 0;
  double signal_early = 0;
  double signal_early_rtts = 0;
  double signal_duplicated = 0;
  std::uint32_t signal_copies = 1;
  double signal_copy_gap_rtts = 0;
  double signal_forged_per_second = 0;  ///< of each worker

  // What the regulator works with; alike in off and on.
  std::uint16_t h_packets = 10;  ///< threshold that START carries
  tg::SignalForm signal_form = tg::SignalForm::kTos;

  // Every queue of every switch.
  /// Marker "step" marks background at h_packets at all times, DDL data at its threshold.
  bool static_pair = false;
  LabScheduler scheduler = LabScheduler::kFifo;
  double ddl_weight = 9;           ///< scheduler "dwrr"
  double background_floor = 0.05;  ///< scheduler "strict_floor": share of the link
  LabPaths paths = LabPaths::kOne;
  double gray_loss = 0;  ///< share of the packets on links that are `gray`, both ways

  // Transport.
  tg::ConnectionReuse connection = tg::ConnectionReuse::kIdleRestart;
  /// What carries the job's bursts; see read_settings() for what kMlt takes.
  tg::TransportProtocol protocol = tg::TransportProtocol::kTcp;
  std::uint32_t layer_classes = 1;  ///< of the layers, the front ones most urgent; a queue each

  // The training job.
  std::uint32_t workers = 1;
  std::uint32_t servers = 1;
  std::uint64_t burst_bytes = 1'000'000;  ///< per worker; not used with a model
  std::string model{};  ///< path relative to the experiment's file; empty: burst_bytes
  std::uint32_t iterations = 6;
  std::uint32_t skip_iterations = 0;  ///< the first ones are run and not measured
  tg::Schedule schedule = tg::Schedule::kFixed;
  double warm_up_seconds = 20;  ///< background alone
  double period_seconds = 7;    ///< schedule "fixed"
  double compute_seconds = 0;   ///< schedule "closed_loop"; 0 with a model: what the model says
  /// Worker 0 takes 1 + this times as long as the last to compute, those between evenly.
  double compute_spread = 0;
  double learner_rate = 0.1;  ///< of one gradient; the mean at a barrier has workers times it
  double rate_factor = 1;     ///< of all links and hosts

  // Several jobs, alike but for what follows.
  std::uint32_t jobs = 1;
  /// Servers per host, see parse_placement(); needs [job] hosts. Empty: each job has its own.
  std::string placement{};
  /// Each job starts later than the one before by this share of an iteration, see plan_jobs.h.
  double job_offset = 0;
  std::uint16_t job_h_step_packets = 0;  ///< job j announces h_packets + j x this
  double job_burst_factor = 1;           ///< its bursts are burst_bytes x this to the power of j

  // Background, random numbers, and the longest that a run may take.
  std::uint32_t background_flows_per_pair = 1;  ///< long ones
  /// Share of the measured link that flows of `background_sizes` offer beside them, in
  /// headers and payload.
  double background_load = 0;
  std::string background_sizes{};  ///< CDF file, relative to the experiment's
  double start_spread_seconds = 1;
  double send_jitter = 1;
  double limit_seconds = 600;

  /// T of the background's cost; 0: a little over the slowest burst
  double cost_window_seconds = 0;
  bool attribution = false;  ///< virtual time only: where the time of each burst goes

  /// The programs' settings that the file gives, with nested keys, as written.
  ConfigTable settings{};
};

inline constexpr auto kLabSchedulers =
    choices<LabScheduler>({{"fifo", LabScheduler::kFifo},
                           {"dwrr", LabScheduler::kDwrr},
                           {"strict_floor", LabScheduler::kStrictFloor}});
inline constexpr auto kLabPaths = choices<LabPaths>(
    {{"one", LabPaths::kOne}, {"flow", LabPaths::kFlow}, {"spray", LabPaths::kSpray}});
template <class V>
void describe_regulator(V& v, CaseParameters& c) {
  v.choice("regulation", c.regulation, sw::kRegulationModes);
  v.choice("recovery", c.recovery, sw::kRecoveries);
  v.value("lead_rtts", c.lead_rtts);
  v.choice("lead_source", c.lead_source, tg::kLeadSources);
  v.value("spare_ddl", c.spare_ddl);
  v.share("signal_lost", c.signal_lost);
  v.share("signal_late", c.signal_late);
  v.value("signal_late_rtts", c.signal_late_rtts);
  v.share("signal_early", c.signal_early);
  v.value("signal_early_rtts", c.signal_early_rtts);
  v.share("signal_duplicated", c.signal_duplicated);
  v.value("signal_copies", c.signal_copies);
  v.value("signal_copy_gap_rtts", c.signal_copy_gap_rtts);
  v.value("signal_forged_per_second", c.signal_forged_per_second);
}

template <class V>
void describe_jobs(V& v, CaseParameters& c) {
  v.value("jobs", c.jobs);
  v.value("placement", c.placement);
  v.value("job_offset", c.job_offset);
  v.value("job_h_step_packets", c.job_h_step_packets);
  v.value("job_burst_factor", c.job_burst_factor);
}

template <class V>
void describe_parameters(V& v, CaseParameters& c) {
  describe_regulator(v, c);
  v.value("h_packets", c.h_packets);
  v.choice("signal_form", c.signal_form, tg::kSignalForms);
  v.value("static_pair", c.static_pair);
  v.choice("scheduler", c.scheduler, kLabSchedulers);
  v.value("ddl_weight", c.ddl_weight);
  v.share("background_floor", c.background_floor);
  v.choice("paths", c.paths, kLabPaths);
  v.share("gray_loss", c.gray_loss);
  v.choice("connection", c.connection, tg::kConnectionReuses);
  v.choice("protocol", c.protocol, tg::kTransportProtocols);
  v.value("layer_classes", c.layer_classes);
  v.value("workers", c.workers);
  v.value("servers", c.servers);
  v.bytes("burst_bytes", c.burst_bytes);
  v.value("model", c.model);
  v.value("iterations", c.iterations);
  v.value("skip_iterations", c.skip_iterations);
  v.choice("schedule", c.schedule, tg::kSchedules);
  v.value("warm_up_seconds", c.warm_up_seconds);
  v.value("period_seconds", c.period_seconds);
  v.value("compute_seconds", c.compute_seconds);
  v.value("compute_spread", c.compute_spread);
  v.value("learner_rate", c.learner_rate);
  v.value("rate_factor", c.rate_factor);
  describe_jobs(v, c);
  v.value("background_flows_per_pair", c.background_flows_per_pair);
  v.share("background_load", c.background_load);
  v.value("background_sizes", c.background_sizes);
  v.value("start_spread_seconds", c.start_spread_seconds);
  v.share("send_jitter", c.send_jitter);
  v.value("limit_seconds", c.limit_seconds);
  v.value("cost_window_seconds", c.cost_window_seconds);
  v.value("attribution", c.attribution);
}

/// Reads settings beside parameters, over those that are there already.
template <class V>
void describe(V& v, CaseParameters& c) {
  describe_parameters(v, c);
  for (const std::string_view root : kSettingRoots) {
    ConfigTable own, over;
    v.free_table(root, own);
    if (own.members.empty()) continue;
    over[root] = ConfigValue(std::move(own));
    overlay(c.settings, over);
  }
}

/// One of the names that tell an on case from its off case; parameters and settings.
bool is_regulator_parameter(std::string_view name);

/// All parameters by name, in order: the first part of Case::parameters. Those of several
/// jobs are there only if one of them differs from its default.
Parameters to_parameters(const CaseParameters& parameters);

/// The same with those of several jobs in any case.
Parameters to_all_parameters(const CaseParameters& parameters);

/// What the plan has to know before it can build: ranges that no configuration
/// of a program states. Pure.
ConfigIssues validate(const CaseParameters& parameters);

/// What parameters and settings ask of each other. Pure.
ConfigIssues validate(const CaseParameters& parameters, const ProgramSettings& settings);

/// Sets one parameter or setting by its name in the file. @return the fault, or empty; a
/// setting's faults are those of check_settings()
std::string assign_parameter(CaseParameters& parameters, const std::string& name,
                             const ConfigValue& value);

}  // namespace outrider::lab
