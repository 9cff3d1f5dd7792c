#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/config_binding.h"
#include "switch/config/config_toml.h"
#include "tools/lab/experiment/case.h"
#include "trafficgen/config/config_toml.h"

namespace outrider {

/// What an ECN-capable class of senders makes of marks.
enum class EcnUse : std::uint8_t {
  kObey,
  kIgnore,  ///< packets are ECT, marks change nothing
  kOff,     ///< packets are Not-ECT
};

enum class LabMarker : std::uint8_t {
  kTailDrop,
  kStep,        ///< everybody is marked at k_packets
  kStaticPair,  ///< background is marked at h_packets at all times, DDL data at k_packets
  kRed,         ///< from red_kmin_packets to k_packets with rising probability
  kPie,         ///< RFC 8033, at aqm_target_seconds
  kCodel,       ///< RFC 8289, at aqm_target_seconds
};

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

enum class DdlTcp : std::uint8_t { kSame, kReno, kCubic, kDctcp };

/// Every named parameter of a case: what [parameters] of an experiment gives,
/// what an arm, a [[vary]] or a [[cross]] may change. The order is that of
/// Case::parameters; the names in the file stand in describe(). One RTT is
/// network.rtt of the experiment.
struct CaseParameters {
  // The regulator. Only these may differ between off and on cases that
  // belong together: comparisons pair cases by all the others.
  RegulationMode regulation = RegulationMode::kOff;
  Recovery recovery = Recovery::kArrival;
  double lead_rtts = 1;  ///< START to burst, at least
  LeadSource lead_source = LeadSource::kWait;
  bool spare_ddl = false;
  WindowRule window_rule = WindowRule::kComplement;  ///< modes that hold windows, as all below
  double window_floor = 0.05;                        ///< share of the link
  double window_gain = 6;
  double window_standing_clamp = 1.5;
  double window_release_rtts = 1;
  bool window_spare_marks = true;
  /// The switch begins so long before the burst is due, if it knows when; negative: with
  /// START.
  double switch_lead_rtts = -1;
  PredictFrom predict = PredictFrom::kOff;
  double predict_idle_gap_rtts = 100;
  /// Shares of announcements, and how far they are shifted; [job.announce.faults].
  double signal_lost = 0;
  double signal_late = 0;
  double signal_late_rtts = 0;
  double signal_early = 0;
  double signal_early_rtts = 0;
  double signal_duplicated = 0;
  std::uint32_t signal_copies = 1;
  double signal_copy_gap_rtts = 0;
  double signal_forged_per_second = 0;          ///< of each worker
  Composition composition = Composition::kMin;  ///< what several jobs' thresholds come to

  // What the regulator works with; alike in off and on.
  std::uint16_t h_packets = 10;  ///< threshold that START carries
  double expiry_rtts = 30;
  double idle_end_rtts = 4;
  double hold_rtts = 10;  ///< recovery "timer", from START on
  double budget_share = 0.5;
  double pace_floor = 0.05;  ///< regulation "pace": share of the link left to background
  double ack_timeout_rtts = 20;
  SignalForm signal_form = SignalForm::kTos;

  // Every queue of every switch.
  LabMarker marker = LabMarker::kStep;
  MarkAt mark_at = MarkAt::kEnqueue;
  std::uint32_t queue_packets = 60;
  std::uint32_t k_packets = 40;
  double red_kmin_packets = 10;
  double red_pmax = 0.1;
  double red_weight = 1;               ///< 1: instantaneous
  double aqm_target_seconds = 0.001;   ///< marker "pie", "codel": delay that is aimed at
  double aqm_interval_seconds = 0.01;  ///< "codel": its interval; "pie": of its updates
  LabScheduler scheduler = LabScheduler::kFifo;
  double ddl_weight = 9;           ///< scheduler "dwrr"
  double background_floor = 0.05;  ///< scheduler "strict_floor": share of the link
  bool early_drop = false;         ///< markers that let Not-ECT pass: they drop it instead
  LabPaths paths = LabPaths::kOne;
  double gray_loss = 0;  ///< share of the packets on links that are `gray`, both ways

  // Transport.
  Controller tcp = Controller::kCubic;
  DdlTcp tcp_ddl = DdlTcp::kSame;
  EcnUse background_ecn = EcnUse::kObey;
  EcnUse ddl_ecn = EcnUse::kObey;
  ConnectionReuse connection = ConnectionReuse::kIdleRestart;
  double min_rto_seconds = 0.2;
  double initial_rto_seconds = 1;
  double delayed_ack_seconds = 0.04;
  std::uint32_t initial_window_segments = 10;
  std::uint32_t receive_buffer_bytes = 4U << 20;

  // What carries the job's bursts. With kMlt its controller is DCTCP, and of the transport's
  // parameters those of congestion control and ddl_ecn alone matter to it.
  TransportProtocol protocol = TransportProtocol::kTcp;
  double tolerance = 0.1;  ///< share of each tensor that a push need not deliver
  double tolerance_pull = 0;
  double probe_timeout_seconds = 0.01;
  std::uint32_t layer_classes = 1;  ///< of the layers, the front ones most urgent; a queue each
  double front_share = 0;           ///< of the layers, from the front, that are Not-ECT
  double small_share = 0;           ///< of each tensor's packets, by magnitude

  // The training job.
  std::uint32_t workers = 1;
  std::uint32_t servers = 1;
  std::uint64_t burst_bytes = 1'000'000;  ///< per worker; not used with a model
  std::string model{};  ///< path relative to the experiment's file; empty: burst_bytes
  bool pull = true;
  std::uint32_t iterations = 6;
  std::uint32_t skip_iterations = 0;  ///< the first ones are run and not measured
  Schedule schedule = Schedule::kFixed;
  double warm_up_seconds = 20;  ///< background alone
  double period_seconds = 7;    ///< schedule "fixed"
  double due_jitter_seconds = 0;
  double compute_seconds = 0;  ///< schedule "closed_loop"; 0 with a model: what the model says
  double compute_jitter = 0;

  // Who of its workers waits for whom, and what they learn, see [job.r2sp] and [job.learner].
  Synchronisation synchronisation = Synchronisation::kBsp;
  std::uint32_t staleness_bound = 0;  ///< synchronisation "ssp"
  /// Worker 0 takes 1 + this times as long as the last to compute, those between evenly.
  double compute_spread = 0;
  double r2sp_slack = 1.2;
  std::uint32_t r2sp_warm_up_iterations = 10;
  bool r2sp_tune_batch = false;  ///< beginning with learner_batch, without a learner too
  LearnerModel learner = LearnerModel::kNone;
  std::uint32_t learner_features = 32;
  std::uint32_t learner_hidden = 16;  ///< learner "perceptron"
  std::uint32_t learner_samples = 1024;
  std::uint32_t learner_batch = 32;
  double learner_rate = 0.1;  ///< of one gradient; the mean at a barrier has workers times it
  double target_loss = 0;     ///< 0: none

  // Its send policy, see [job.policy]; sizes of 0: the policy's default, or not used by it.
  SendPolicyKind send_policy = SendPolicyKind::kFifo;
  Granularity granularity = Granularity::kShard;
  std::uint64_t partition_bytes = 0;
  std::uint64_t credit_bytes = 0;
  std::uint64_t fusion_bytes = 0;
  double fusion_cycle_seconds = 0;
  double bandwidth_error = 1;  ///< send_policy "prophet"
  double rate_factor = 1;      ///< of all links and hosts

  // Several jobs, alike but for what follows.
  std::uint32_t jobs = 1;
  /// Servers per host, see parse_placement(); needs [job] hosts. Empty: each job has its own.
  std::string placement{};
  /// Each job starts later than the one before by this share of an iteration, see plan_jobs.h.
  double job_offset = 0;
  std::uint16_t job_h_step_packets = 0;  ///< job j announces h_packets + j x this
  double job_burst_factor = 1;           ///< its bursts are burst_bytes x this to the power of j
  TensorLightsMode tensorlights = TensorLightsMode::kOff;
  double tensorlights_interval_seconds = 20;  ///< of tensorlights "rotate"

  // Background, random numbers, and the longest that a run may take.
  std::uint32_t background_flows_per_pair = 1;  ///< long ones
  /// Share of the measured link that flows of `background_sizes` offer beside them, in
  /// headers and payload.
  double background_load = 0;
  std::string background_sizes{};  ///< CDF file, relative to the experiment's
  double start_spread_seconds = 1;
  double send_jitter = 1;
  double limit_seconds = 600;

  double cost_window_seconds =
      0;                     ///< T of the background's cost; 0: a little over the slowest burst
  bool attribution = false;  ///< virtual time only: where the time of each burst goes
};

inline constexpr auto kEcnUses =
    choices<EcnUse>({{"obey", EcnUse::kObey}, {"ignore", EcnUse::kIgnore}, {"off", EcnUse::kOff}});
inline constexpr auto kLabMarkers = choices<LabMarker>({{"tail_drop", LabMarker::kTailDrop},
                                                        {"step", LabMarker::kStep},
                                                        {"static_pair", LabMarker::kStaticPair},
                                                        {"red", LabMarker::kRed},
                                                        {"pie", LabMarker::kPie},
                                                        {"codel", LabMarker::kCodel}});
inline constexpr auto kLabSchedulers =
    choices<LabScheduler>({{"fifo", LabScheduler::kFifo},
                           {"dwrr", LabScheduler::kDwrr},
                           {"strict_floor", LabScheduler::kStrictFloor}});
inline constexpr auto kLabPaths = choices<LabPaths>(
    {{"one", LabPaths::kOne}, {"flow", LabPaths::kFlow}, {"spray", LabPaths::kSpray}});
inline constexpr auto kDdlTcps = choices<DdlTcp>({{"same", DdlTcp::kSame},
                                                  {"reno", DdlTcp::kReno},
                                                  {"cubic", DdlTcp::kCubic},
                                                  {"dctcp", DdlTcp::kDctcp}});

template <class V>
void describe_regulator(V& v, CaseParameters& c) {
  v.choice("regulation", c.regulation, kRegulationModes);
  v.choice("recovery", c.recovery, kRecoveries);
  v.value("lead_rtts", c.lead_rtts);
  v.choice("lead_source", c.lead_source, kLeadSources);
  v.value("spare_ddl", c.spare_ddl);
  v.choice("window_rule", c.window_rule, kWindowRules);
  v.share("window_floor", c.window_floor);
  v.value("window_gain", c.window_gain);
  v.value("window_standing_clamp", c.window_standing_clamp);
  v.value("window_release_rtts", c.window_release_rtts);
  v.value("window_spare_marks", c.window_spare_marks);
  v.value("switch_lead_rtts", c.switch_lead_rtts);
  v.choice("predict", c.predict, kPredictFroms);
  v.value("predict_idle_gap_rtts", c.predict_idle_gap_rtts);
  v.share("signal_lost", c.signal_lost);
  v.share("signal_late", c.signal_late);
  v.value("signal_late_rtts", c.signal_late_rtts);
  v.share("signal_early", c.signal_early);
  v.value("signal_early_rtts", c.signal_early_rtts);
  v.share("signal_duplicated", c.signal_duplicated);
  v.value("signal_copies", c.signal_copies);
  v.value("signal_copy_gap_rtts", c.signal_copy_gap_rtts);
  v.value("signal_forged_per_second", c.signal_forged_per_second);
  v.choice("composition", c.composition, kCompositions);
}

template <class V>
void describe_jobs(V& v, CaseParameters& c) {
  v.value("jobs", c.jobs);
  v.value("placement", c.placement);
  v.value("job_offset", c.job_offset);
  v.value("job_h_step_packets", c.job_h_step_packets);
  v.value("job_burst_factor", c.job_burst_factor);
  v.choice("tensorlights", c.tensorlights, kTensorLightsModes);
  v.value("tensorlights_interval_seconds", c.tensorlights_interval_seconds);
}

template <class V>
void describe_learning(V& v, CaseParameters& c) {
  v.choice("synchronisation", c.synchronisation, kSynchronisations);
  v.value("staleness_bound", c.staleness_bound);
  v.value("compute_spread", c.compute_spread);
  v.value("r2sp_slack", c.r2sp_slack);
  v.value("r2sp_warm_up_iterations", c.r2sp_warm_up_iterations);
  v.value("r2sp_tune_batch", c.r2sp_tune_batch);
  v.choice("learner", c.learner, kLearnerModels);
  v.value("learner_features", c.learner_features);
  v.value("learner_hidden", c.learner_hidden);
  v.value("learner_samples", c.learner_samples);
  v.value("learner_batch", c.learner_batch);
  v.value("learner_rate", c.learner_rate);
  v.value("target_loss", c.target_loss);
}

template <class V>
void describe(V& v, CaseParameters& c) {
  describe_regulator(v, c);
  v.value("h_packets", c.h_packets);
  v.value("expiry_rtts", c.expiry_rtts);
  v.value("idle_end_rtts", c.idle_end_rtts);
  v.value("hold_rtts", c.hold_rtts);
  v.share("budget_share", c.budget_share);
  v.share("pace_floor", c.pace_floor);
  v.value("ack_timeout_rtts", c.ack_timeout_rtts);
  v.choice("signal_form", c.signal_form, kSignalForms);
  v.choice("marker", c.marker, kLabMarkers);
  v.choice("mark_at", c.mark_at, kMarkAtNames);
  v.value("queue_packets", c.queue_packets);
  v.value("k_packets", c.k_packets);
  v.value("red_kmin_packets", c.red_kmin_packets);
  v.share("red_pmax", c.red_pmax);
  v.value("red_weight", c.red_weight);
  v.value("aqm_target_seconds", c.aqm_target_seconds);
  v.value("aqm_interval_seconds", c.aqm_interval_seconds);
  v.choice("scheduler", c.scheduler, kLabSchedulers);
  v.value("ddl_weight", c.ddl_weight);
  v.share("background_floor", c.background_floor);
  v.value("early_drop", c.early_drop);
  v.choice("paths", c.paths, kLabPaths);
  v.share("gray_loss", c.gray_loss);
  v.choice("tcp", c.tcp, kControllers);
  v.choice("tcp_ddl", c.tcp_ddl, kDdlTcps);
  v.choice("background_ecn", c.background_ecn, kEcnUses);
  v.choice("ddl_ecn", c.ddl_ecn, kEcnUses);
  v.choice("connection", c.connection, kConnectionReuses);
  v.value("min_rto_seconds", c.min_rto_seconds);
  v.value("initial_rto_seconds", c.initial_rto_seconds);
  v.value("delayed_ack_seconds", c.delayed_ack_seconds);
  v.value("initial_window_segments", c.initial_window_segments);
  v.bytes("receive_buffer_bytes", c.receive_buffer_bytes);
  v.choice("protocol", c.protocol, kTransportProtocols);
  v.share("tolerance", c.tolerance);
  v.share("tolerance_pull", c.tolerance_pull);
  v.value("probe_timeout_seconds", c.probe_timeout_seconds);
  v.value("layer_classes", c.layer_classes);
  v.share("front_share", c.front_share);
  v.share("small_share", c.small_share);
  v.value("workers", c.workers);
  v.value("servers", c.servers);
  v.bytes("burst_bytes", c.burst_bytes);
  v.value("model", c.model);
  v.value("pull", c.pull);
  v.value("iterations", c.iterations);
  v.value("skip_iterations", c.skip_iterations);
  v.choice("schedule", c.schedule, kSchedules);
  v.value("warm_up_seconds", c.warm_up_seconds);
  v.value("period_seconds", c.period_seconds);
  v.value("due_jitter_seconds", c.due_jitter_seconds);
  v.value("compute_seconds", c.compute_seconds);
  v.share("compute_jitter", c.compute_jitter);
  describe_learning(v, c);
  v.choice("send_policy", c.send_policy, kSendPolicies);
  v.choice("granularity", c.granularity, kGranularities);
  v.bytes("partition_bytes", c.partition_bytes);
  v.bytes("credit_bytes", c.credit_bytes);
  v.bytes("fusion_bytes", c.fusion_bytes);
  v.value("fusion_cycle_seconds", c.fusion_cycle_seconds);
  v.value("bandwidth_error", c.bandwidth_error);
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

/// One of the names that tell an on case from its off case.
bool is_regulator_parameter(std::string_view name);

/// All of them by name, in order: Case::parameters. Those of several jobs are there only if
/// one of them differs from its default.
Parameters to_parameters(const CaseParameters& parameters);

/// The same with those of several jobs in any case.
Parameters to_all_parameters(const CaseParameters& parameters);

/// What the plan has to know before it can build: ranges that no configuration
/// of a program states. Pure.
ConfigIssues validate(const CaseParameters& parameters);

/// Sets one parameter by its name in the file. @return the fault, or empty
std::string assign_parameter(CaseParameters& parameters, const std::string& name,
                             const ConfigValue& value);

}  // namespace outrider
