#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_binding.h"
#include "common/core/or_auto.h"
#include "switch/config/config_toml.h"
#include "switch/config/regulation_config.h"
#include "tools/lab/experiment/background_group.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/fabric/host_placement.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {

/// The scheduler that shares the link. All but kFifo give DDL data a queue of its own.
enum class LabScheduler : std::uint8_t {
  kFifo,
  kDwrr,         ///< DDL data and background share the link as ddl_weight to 1
  kStrictFloor,  ///< DDL data first, except for the share background_floor of the link
};

/// How much room the two queues have that a scheduler serves.
enum class LabQueueRoom : std::uint8_t {
  kEach,   ///< each has the limit that one queue would have: together they have twice the buffer
  kSplit,  ///< together they have that limit, half each, and thresholds in proportion
};

/// What the switches are that the file calls `outside`.
enum class LabOutside : std::uint8_t {
  kOthers,  ///< somebody else's: one queue with the settings of [parameters], no regulation
  kTold,    ///< the same, and our switches are told of the links that are bottlenecks there
  kShaped,  ///< the same, and our ports that lead to a bottleneck send at 95 % of its rate
  kOurs,    ///< as our own, for a comparison
};

/// How packets use equal-cost paths between switches.
enum class LabPaths : std::uint8_t {
  kOne,    ///< all packets take the first path in the order of the file
  kFlow,   ///< each flow keeps one path
  kSpray,  ///< packets take turns
  kApart,  ///< all packets take the first path, and what comes back the last
};

/// Protocols that may carry background.
enum class LabBackgroundProtocol : std::uint8_t {
  kTcp,
  kRoce,  ///< RoCEv2: long flows, and flows with sizes
  kBoth,  ///< as many long flows of each, and half of the load
};

/// An automatic lead where no windows are held, as the PCN paper has it.
inline constexpr double kPaperLead_rtts = 1;

/// Holds every named parameter of a case. [parameters] of an experiment gives them, and an
/// arm, a [[vary]] or a [[cross]] may change them. The order is that of Case::parameters;
/// describe() has the names in the file. One RTT is network.rtt of the experiment. A single
/// setting of a program is no parameter: see program_settings.h.
struct CaseParameters {
  // The regulator. Only these and `switch.regulation.*` may differ between off and on
  // cases that belong together: comparisons pair cases by all other parameters.
  RegulationMode regulation = RegulationMode::kOff;
  Recovery recovery = RegulationPolicy{}.recovery;
  /// Least time from START to burst [RTTs]; "auto": lead_by_rule() where windows are held, else
  /// kPaperLead_rtts
  OrAuto<double> lead_rtts{};
  tg::LeadSource lead_source = tg::LeadSource::kWait;
  bool spare_ddl = RegulationPolicy{}.spare_ddl;
  LabOutside outside = LabOutside::kOthers;
  /// Shares of announcements with each fault, and by how far they are shifted [RTTs]; see
  /// [job.announce.faults].
  double signal_lost = 0;
  double signal_late = 0;
  double signal_late_rtts = 0;
  double signal_early = 0;
  double signal_early_rtts = 0;
  double signal_duplicated = 0;
  std::uint32_t signal_copies = 1;
  double signal_copy_gap_rtts = 0;
  double signal_forged_per_second = 0;  ///< forged signals of each worker [1/s]
  tg::ForgedTag signal_forged_tag = tg::ForgedTag::kNone;
  double signal_replayed_per_second = 0;  ///< replays by each worker's host [1/s]
  bool signal_signed = false;             ///< each job has a key and signs its STARTs

  // Inputs of the regulator, which are equal in off and on cases.
  std::uint16_t h_packets = 10;  ///< threshold that a START carries [packets]
  tg::SignalForm signal_form = tg::SignalForm::kTos;

  // Settings of every queue of every switch.
  /// The marker "step" always marks background at h_packets and DDL data at its own threshold.
  bool static_pair = false;
  LabScheduler scheduler = LabScheduler::kFifo;
  double ddl_weight = 9;           ///< for scheduler "dwrr"
  double background_floor = 0.05;  ///< for scheduler "strict_floor": share of the link
  LabQueueRoom queue_room = LabQueueRoom::kEach;  ///< of the queues of these schedulers
  /// Factors of the shared buffer's free bytes, of these queues; 0: switch.queue.alpha
  double ddl_alpha = 0;
  double background_alpha = 0;
  LabPaths paths = LabPaths::kOne;
  double gray_loss = 0;  ///< share of packets lost on `gray` links in each direction

  // Transport.
  tg::ConnectionReuse connection = tg::ConnectionReuse::kIdleRestart;
  /// Transport of the job's bursts; read_settings() says which settings kMlt uses.
  tg::TransportProtocol protocol = tg::TransportProtocol::kTcp;
  std::uint32_t layer_classes = 1;  ///< classes of layers, front ones most urgent; a queue each

  // The training job.
  std::uint32_t workers = 1;
  std::uint32_t servers = 1;
  std::uint64_t burst_bytes = 1'000'000;  ///< per worker; not used with a model
  std::string model{};  ///< path relative to the experiment's file; empty: burst_bytes holds
  std::uint32_t iterations = 6;
  std::uint32_t skip_iterations = 0;  ///< first iterations that are run but not measured
  tg::Schedule schedule = tg::Schedule::kFixed;
  double warm_up_seconds = 20;  ///< time in which background runs alone
  double period_seconds = 7;    ///< for schedule "fixed"
  double compute_seconds = 0;   ///< for schedule "closed_loop"; 0 with a model: the model's time
  /// Worker 0 computes (1 + this) times as long as the last worker; those between are spaced
  /// evenly.
  double compute_spread = 0;
  /// A byte occupies worker 0's NIC (1 + this) times as long as the last worker's; those between
  /// are spaced evenly.
  double worker_rate_spread = 0;
  double learner_rate = 0.1;  ///< for one gradient; the mean at a barrier takes workers x this
  double rate_factor = 1;     ///< multiplies the rates of all links and hosts

  // Several jobs, which differ only in what follows.
  std::uint32_t jobs = 1;
  /// Servers per host, see parse_placement(); needs hosts of [job]. Empty: each job's server
  /// has a host of its own.
  std::string placement{};
  /// Each job starts later than the one before by this share of an iteration, see plan_jobs.h.
  double job_offset = 0;
  std::uint16_t job_h_step_packets = 0;  ///< job j announces h_packets + j x this
  double job_burst_factor = 1;           ///< bursts of job j have burst_bytes x (this to the j)

  /// Where in a [fabric] the hosts are that have no placement of their own.
  HostPlacement host_placement = HostPlacement::kPack;

  // Background, random numbers, and the longest that a run may take.
  std::optional<std::uint32_t> background_flows_per_pair{};  ///< see long_flows_per_pair()
  /// Share of the measured link, headers and payload, that flows with sizes from
  /// `background_sizes` offer. Absent: 0
  std::optional<double> background_load{};
  std::string background_sizes{};  ///< CDF file, relative to the experiment's file
  std::string background_list{};   ///< flow list, relative to it; empty: none
  /// pcap or pcapng file, relative to it, whose frames are played open loop; empty: none
  std::string background_capture{};
  LabBackgroundProtocol background_protocol = LabBackgroundProtocol::kTcp;
  LabRoceQueue background_roce_queue = LabRoceQueue::kBackground;
  /// Connections over RoCEv2 between two hosts that flows with sizes share; absent: as many as
  /// there are flows at once, see tg::FlowsConfig
  std::optional<std::uint32_t> background_queue_pairs{};
  /// Groups of background of the file, or of the arm; if there are any, none of the parameters of
  /// background above is given.
  std::vector<BackgroundGroup> groups{};
  double start_spread_seconds = 1;
  double send_jitter = 1;
  double limit_seconds = 600;

  /// T of the background's cost; 0: a little more than the slowest burst
  double cost_window_seconds = 0;
  /// How often the state of every sending connection is noted [s]; 0: never
  double connection_sample_seconds = 0;
  bool attribution = false;  ///< attribute the time of each burst; virtual time only

  /// The programs' settings as the file gives them, with nested keys.
  ConfigTable settings{};
};

inline constexpr auto kLabSchedulers =
    choices<LabScheduler>({{"fifo", LabScheduler::kFifo},
                           {"dwrr", LabScheduler::kDwrr},
                           {"strict_floor", LabScheduler::kStrictFloor}});
inline constexpr auto kLabQueueRooms =
    choices<LabQueueRoom>({{"each", LabQueueRoom::kEach}, {"split", LabQueueRoom::kSplit}});
inline constexpr auto kLabOutsides = choices<LabOutside>({{"others", LabOutside::kOthers},
                                                          {"told", LabOutside::kTold},
                                                          {"shaped", LabOutside::kShaped},
                                                          {"ours", LabOutside::kOurs}});
inline constexpr auto kLabPaths = choices<LabPaths>({{"one", LabPaths::kOne},
                                                     {"flow", LabPaths::kFlow},
                                                     {"spray", LabPaths::kSpray},
                                                     {"apart", LabPaths::kApart}});
inline constexpr auto kLabBackgroundProtocols =
    choices<LabBackgroundProtocol>({{"tcp", LabBackgroundProtocol::kTcp},
                                    {"roce", LabBackgroundProtocol::kRoce},
                                    {"both", LabBackgroundProtocol::kBoth}});
template <class V>
void describe_regulator(V& v, CaseParameters& c) {
  v.choice("regulation", c.regulation, sw::kRegulationModes);
  v.choice("recovery", c.recovery, sw::kRecoveries);
  v.value("lead_rtts", c.lead_rtts);
  v.choice("lead_source", c.lead_source, tg::kLeadSources);
  v.value("spare_ddl", c.spare_ddl);
  v.choice("outside", c.outside, kLabOutsides);
  v.share("signal_lost", c.signal_lost);
  v.share("signal_late", c.signal_late);
  v.value("signal_late_rtts", c.signal_late_rtts);
  v.share("signal_early", c.signal_early);
  v.value("signal_early_rtts", c.signal_early_rtts);
  v.share("signal_duplicated", c.signal_duplicated);
  v.value("signal_copies", c.signal_copies);
  v.value("signal_copy_gap_rtts", c.signal_copy_gap_rtts);
  v.value("signal_forged_per_second", c.signal_forged_per_second);
  v.choice("signal_forged_tag", c.signal_forged_tag, tg::kForgedTags);
  v.value("signal_replayed_per_second", c.signal_replayed_per_second);
  v.value("signal_signed", c.signal_signed);
}

template <class V>
void describe_jobs(V& v, CaseParameters& c) {
  v.value("jobs", c.jobs);
  v.value("placement", c.placement);
  v.value("job_offset", c.job_offset);
  v.value("job_h_step_packets", c.job_h_step_packets);
  v.value("job_burst_factor", c.job_burst_factor);
  v.choice("host_placement", c.host_placement, kHostPlacements);
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
  v.choice("queue_room", c.queue_room, kLabQueueRooms);
  v.value("ddl_alpha", c.ddl_alpha);
  v.value("background_alpha", c.background_alpha);
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
  v.value("worker_rate_spread", c.worker_rate_spread);
  v.value("learner_rate", c.learner_rate);
  v.value("rate_factor", c.rate_factor);
  describe_jobs(v, c);
  v.value("background_flows_per_pair", c.background_flows_per_pair);
  v.share("background_load", c.background_load);
  v.value("background_sizes", c.background_sizes);
  v.value("background_list", c.background_list);
  v.value("background_capture", c.background_capture);
  v.choice("background_protocol", c.background_protocol, kLabBackgroundProtocols);
  v.choice("background_roce_queue", c.background_roce_queue, kLabRoceQueues);
  v.value("background_queue_pairs", c.background_queue_pairs);
  v.value("start_spread_seconds", c.start_spread_seconds);
  v.share("send_jitter", c.send_jitter);
  v.value("limit_seconds", c.limit_seconds);
  v.value("cost_window_seconds", c.cost_window_seconds);
  v.value("connection_sample_seconds", c.connection_sample_seconds);
  v.value("attribution", c.attribution);
}

/// Binds the parameters and the programs' settings. Settings that are read replace those that
/// `c` already has.
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

/// Returns the long flows of each pair of hosts. If the file does not say it, there is one, or none
/// if it gives a load: who asks for a load must not get a flow that fills the link. Groups of
/// background say themselves what they have: then there are none.
std::uint32_t long_flows_per_pair(const CaseParameters& parameters);

/// Returns whether background has long flows, or flows that offer a load.
bool has_background_flows(const CaseParameters& parameters);

/// Returns whether background has requests.
bool has_requests(const CaseParameters& parameters);

/// Returns whether some flows of background always have data, whatever file says so and how.
bool has_long_flows(const CaseParameters& parameters);

/// Return whether some of background, or all of it, is over RoCEv2.
bool has_roce_background(const CaseParameters& parameters);
bool has_roce_background_alone(const CaseParameters& parameters);

/// The parameter by which cases show the groups of background that they have; absent: none.
inline constexpr const char* kGroupsParameter = "background_groups";

/// Says whether a parameter or setting of this name may differ between an on case and its off
/// case.
bool is_regulator_parameter(std::string_view name);

/// Returns all parameters by name, in order: the first part of Case::parameters. The parameters
/// of several jobs are left out if all of them have their defaults.
Parameters to_parameters(const CaseParameters& parameters);

/// Returns the same but always includes the parameters of several jobs.
Parameters to_all_parameters(const CaseParameters& parameters);

/// Checks the ranges that no program's configuration checks and on which the plan
/// depends. Pure.
ConfigIssues validate(const CaseParameters& parameters);

/// Checks the rules between parameters and settings. Pure.
ConfigIssues validate(const CaseParameters& parameters, const ProgramSettings& settings);

/// Sets one parameter or setting by its name in the file. @return the fault, or empty;
/// check_settings() finds the faults of a setting
std::string assign_parameter(CaseParameters& parameters, const std::string& name,
                             const ConfigValue& value);

}  // namespace outrider::lab
