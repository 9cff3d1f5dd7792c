#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/config_binding.h"
#include "tools/lab/experiment/background_group.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/program_settings.h"
#include "tools/lab/fabric/host_placement.h"

namespace outrider::lab {

/// What the switches are that the file calls `outside`.
enum class LabOutside : std::uint8_t {
  kOthers,  ///< somebody else's: one queue with the settings of [parameters], no regulation
  kTold,    ///< the same, and our switches are told of the links that are bottlenecks there
  kShaped,  ///< the same, and our ports that lead to a bottleneck send at 95 % of its rate
  kOurs,    ///< as our own, for a comparison
};

/// How packets use equal-cost paths between switches.
enum class LabPaths : std::uint8_t {
  kOne,       ///< all packets take the first path in the order of the file
  kFlow,      ///< each flow keeps one path
  kSpray,     ///< packets take turns
  kFlowlets,  ///< each flow keeps one until a gap of switch.flowlet_gap
  kApart,     ///< all packets take the first path, and what comes back the last
};

/// The parameters of a case: quantities of the experiment that are no setting of a program, and the
/// overlays on the programs' settings (program_settings.h). [parameters] of an experiment gives
/// them, and an arm or a sweep may change them. The order is that of Case::parameters;
/// describe_parameters() has the names in the file. One RTT is network.rtt of the experiment.
struct CaseParameters {
  std::uint16_t h_packets = 10;  ///< "h": the threshold that a START carries [packets]

  // The network.
  LabOutside outside = LabOutside::kOthers;
  LabPaths paths = LabPaths::kOne;
  double gray_loss = 0;    ///< share of packets lost on `gray` links in each direction
  double rate_factor = 1;  ///< multiplies the rates of all links and hosts
  /// Where in a [fabric] the hosts are that have no placement of their own.
  HostPlacement host_placement = HostPlacement::kPack;

  // Jobs.
  std::uint32_t workers = 1;
  std::uint32_t servers = 1;
  std::uint32_t jobs = 1;  ///< which differ only in what follows
  /// Servers per host, see parse_placement(); needs hosts of [job]. Empty: each job's server
  /// has a host of its own.
  std::string placement{};
  /// Each job starts later than the one before by this share of an iteration, see plan_jobs.h.
  double job_offset = 0;
  std::uint16_t job_h_step_packets = 0;  ///< job j announces h_packets + j x this
  double job_burst_factor = 1;           ///< bursts of job j have job.burst_bytes x (this to the j)
  /// Worker 0 computes (1 + this) times as long as the last worker; those between are spaced
  /// evenly.
  double compute_spread = 0;
  /// A byte occupies worker 0's NIC (1 + this) times as long as the last worker's; those between
  /// are spaced evenly.
  double worker_rate_spread = 0;
  double learner_rate = 0.1;  ///< for one gradient; the mean at a barrier takes workers x this

  // The run and its measures.
  double warm_up_seconds = 20;        ///< time in which background runs alone
  std::uint32_t skip_iterations = 0;  ///< first iterations that are run but not measured
  double limit_seconds = 600;         ///< longest that a run may take
  /// T of the background's cost; 0: a little more than the slowest burst
  double cost_window_seconds = 0;

  /// Groups of background of the file, or of the arm; if there are any, nothing of `background.*`
  /// is given.
  std::vector<BackgroundGroup> groups{};

  /// The overlays as the file gives them, with nested keys.
  ConfigTable settings{};
  /// What the programs' readers make of them; settle() reads them.
  std::shared_ptr<const ProgramSettings> read{};

  /// @pre settled
  [[nodiscard]] const ProgramSettings& programs() const {
    assert(read != nullptr);
    return *read;
  }
};

inline constexpr auto kLabOutsides = choices<LabOutside>({{"others", LabOutside::kOthers},
                                                          {"told", LabOutside::kTold},
                                                          {"shaped", LabOutside::kShaped},
                                                          {"ours", LabOutside::kOurs}});
inline constexpr auto kLabPaths = choices<LabPaths>({{"one", LabPaths::kOne},
                                                     {"flow", LabPaths::kFlow},
                                                     {"spray", LabPaths::kSpray},
                                                     {"flowlets", LabPaths::kFlowlets},
                                                     {"apart", LabPaths::kApart}});

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
  v.value("h_packets", c.h_packets);
  v.choice("outside", c.outside, kLabOutsides);
  v.choice("paths", c.paths, kLabPaths);
  v.share("gray_loss", c.gray_loss);
  v.value("rate_factor", c.rate_factor);
  v.value("workers", c.workers);
  v.value("servers", c.servers);
  describe_jobs(v, c);
  v.value("compute_spread", c.compute_spread);
  v.value("worker_rate_spread", c.worker_rate_spread);
  v.value("learner_rate", c.learner_rate);
  v.value("warm_up_seconds", c.warm_up_seconds);
  v.value("skip_iterations", c.skip_iterations);
  v.value("limit_seconds", c.limit_seconds);
  v.value("cost_window_seconds", c.cost_window_seconds);
}

/// Binds the parameters and the overlays. Overlays that are read lie over those that `c` already
/// has.
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

/// Reads the programs' settings of a case anew. Their faults are told where they are given.
void settle(CaseParameters& parameters, Duration rtt);

// All functions below have settled parameters, but for those that assign.

/// Returns the long flows of each pair of hosts, see BackgroundFlows. Groups of background say
/// themselves what they have: then there are none.
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

/// Returns whether it is one that does nothing without a regulation.
bool needs_regulation(std::string_view name);

/// Returns all parameters by name, in order: the first part of Case::parameters. The parameters
/// of several jobs are left out if all of them have their defaults.
Parameters to_parameters(const CaseParameters& parameters);

/// Returns the same but always includes the parameters of several jobs.
Parameters to_all_parameters(const CaseParameters& parameters);

/// Checks what no program's configuration checks and on which the plan depends: ranges, and rules
/// between parameters and settings. Pure.
ConfigIssues validate(const CaseParameters& parameters);

/// Sets one parameter or setting by its name in the file. @return the fault, or empty;
/// check_settings() finds the faults of a setting
std::string assign_parameter(CaseParameters& parameters, const std::string& name,
                             const ConfigValue& value);

}  // namespace outrider::lab
