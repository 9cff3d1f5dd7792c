#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/config/suggestion.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/experiment_parameters.h"
#include "tools/lab/experiment/other_fabric.h"
#include "tools/lab/experiment/rack_matrix.h"
#include "tools/lab/experiment/search_settings.h"
#include "tools/lab/fabric/fabric.h"
#include "tools/lab/fabric/host_placement.h"
#include "tools/lab/fabric/network_entries.h"

namespace outrider::lab {

/// The host count "workers + 1", for hosts that jobs share: one for a job's server and one for
/// each of its workers.
inline constexpr const char* kWorkersAndServer = "workers + 1";

/// The number of hosts in a group: a fixed number, the "workers" or "servers" of all jobs
/// together, or kWorkersAndServer.
struct HostCount {
  std::uint32_t fixed = 1;
  std::string parameter{};  ///< if empty, `fixed` holds
};

/// One [[hosts]]: a group of identical hosts, on one switch or in a [fabric].
struct HostGroupEntry {
  std::string name;
  HostCount count{};
  std::string at_switch;                     ///< empty: anywhere in the fabric
  std::optional<HostPlacement> placement{};  ///< in a fabric; absent: the parameter host_placement
  std::optional<std::size_t> of_job{};  ///< index into ExperimentFile::jobs; `count` is of that job
  BitRate rate{};                       ///< in a fabric, that of the host's place
  Duration delay{};                     ///< one way, host to switch; in a fabric, that of its place
  double delay_spread = 0;              ///< each host's delay is drawn from delay x (1 +/- this)
  std::uint32_t mtu_bytes = 1500;       ///< IP packet
  std::uint32_t tso_bytes = 0;          ///< payload a connection sends back to back; 0: one segment
  tg::PauseStormConfig pause_storm{};   ///< of each host
};

struct NetworkEntry {
  /// "switch.port" whose queue gives the headline metrics; several of them, of which in each case
  /// the worst does; or, in a fabric, kWorstQueue, of all
  std::vector<std::string> measured;
  Duration rtt{};  ///< worker to server and back, propagation only, without spread

  [[nodiscard]] bool measures_all() const {
    return measured == std::vector{std::string(kWorstQueue)};
  }
  /// Returns Case::measured_queue.
  [[nodiscard]] std::string measured_queue() const {
    return measured.size() == 1 ? measured.front() : kWorstQueue;
  }
};

/// [background]: the groups of hosts between which it flows, host by host. A list [[background]] is
/// in CaseParameters::groups.
struct BackgroundEntry {
  std::string from;
  std::string to;
  bool both_ways = false;  ///< as much again flows from `to` to `from`
  std::string matrix{};    ///< file of `racks`, relative to the experiment's; in a fabric
  RackMatrix racks{};      ///< how `background_load` is shared by pairs of racks; empty: evenly
};

struct JobEntry {
  std::string workers = "worker";
  std::string servers = "server";
  /// The group of hosts that servers and workers share: each job has its server on one of
  /// them, by `placement`, and a worker on every other. Empty: `workers` and `servers` hold.
  std::string hosts{};
  /// For a collective without servers: its workers are on these groups in turn.
  std::vector<std::string> ring{};

  /// Makes all names empty: there is no job.
  void clear() {
    for (std::string* name : {&workers, &servers, &hosts}) name->clear();
    ring.clear();
  }
  [[nodiscard]] bool is_none() const { return worker_group().empty(); }

  /// Returns the job's collective. On the groups of `ring` it is a ring unless the settings give
  /// another. @param set  of the settings, whose default has servers
  [[nodiscard]] tg::Collective collective(tg::Collective set) const {
    return ring.empty() || !tg::has_servers(set) ? set : tg::Collective::kRing;
  }
  /// The groups at the two ends of the job's round trip.
  [[nodiscard]] const std::string& worker_group() const {
    if (!ring.empty()) return ring.front();
    return hosts.empty() ? workers : hosts;
  }
  [[nodiscard]] const std::string& server_group() const {
    if (!ring.empty()) return ring.back();
    return hosts.empty() ? servers : hosts;
  }
  [[nodiscard]] bool is_on(const std::string& group) const {
    return group == worker_group() || group == server_group() ||
           std::ranges::find(ring, group) != ring.end();
  }
};

/// One [[job]] of a list: a job, or several alike, with hosts of their own in the fabric. The
/// groups of hosts are called "NAME_worker" and "NAME_server".
struct ListedJob {
  std::string name;
  std::optional<HostPlacement> placement{};  ///< absent: the parameter host_placement
  Duration start{};
  std::uint32_t mtu_bytes = 1500;  ///< of its hosts, see HostGroupEntry
  std::size_t entry = 0;           ///< index of its [[job]], for messages
  std::size_t line = 0;            ///< in the list of that [[job]], for messages; 0: it has none
  ConfigTable own{};               ///< parameters and settings of this job, with nested keys
};

/// One [[arm]]: a configuration that is compared with the others at every point.
struct Arm {
  std::string label;  ///< any text that may name a folder
  /// Absent in the file: a baseline, if no switch acts on its bursts; see
  /// ProgramSettings::regulates
  std::optional<ArmRole> role{};
  CaseParameters parameters;
  std::string against{};  ///< label of the arm that it is compared with; empty: see points_of()
  bool own_background = false;  ///< the arm has groups of background in the place of the file's
};

/// The parameters and settings that a point of the matrix changes, by name.
using Point = std::vector<std::pair<std::string, ConfigValue>>;

/// The points that one [[sweep]] adds, each run with `arms`.
struct Sweep {
  std::string key;  ///< its place in the file, for messages: "sweep[0]"
  std::vector<std::string> arms;
  std::vector<Point> points;
};

/// Holds one file of conf/experiments: a topology, a job, background, and the matrix
/// of cases. The matrix has every arm at the point of [parameters] and the arms of
/// each sweep at its points.
struct ExperimentFile {
  std::string name;
  std::string question;
  std::uint32_t seeds = 1;  ///< runs of every case; seeds 1, 2, ...
  NetworkEntry network;
  Observed observed;
  bool in_fabric = false;         ///< the file has [fabric], whose switches and links hold
  FabricConfig fabric;            ///< of [fabric], if the file has one
  std::vector<FabricSlot> slots;  ///< the fabric's places; empty without one, or if it has a fault
  std::vector<SwitchEntry> switches;
  std::vector<TrunkEntry> trunks;
  std::vector<HostGroupEntry> hosts;
  BackgroundEntry background;   ///< both names empty: no background, or parameters.groups
  JobEntry job;                 ///< is_none(): the file has no job, see has_job()
  std::vector<ListedJob> jobs;  ///< of [[job]]; if there are any, `job` does not hold
  /// Returns false if there is background alone: the file has neither [job], nor [[job]], nor hosts
  /// whose number is that of workers or servers.
  [[nodiscard]] bool has_job() const { return !jobs.empty() || !job.is_none(); }
  CaseParameters parameters;
  /// Dotted keys of [parameters] that the file gives itself; the others are its base's
  std::vector<std::string> own_parameters;
  /// The file is one for advise, whose [parameters] are for arms that it does not have
  bool for_advise = false;
  std::vector<std::string> lent_arms;  ///< labels of arms that its base or its rivals give
  std::vector<Arm> arms;
  std::vector<Sweep> sweeps;
  std::optional<SearchSettings> search;  ///< of [search], whose families' arms are among `arms`
  bool made_by_rate = false;             ///< switches, link and hosts follow from network.rate
  /// Dotted keys of the settings that the file gives anywhere; every case lists them all.
  std::vector<std::string> setting_names;
  std::filesystem::path directory;  ///< where relative paths start
};

/// Reads and checks the file at `path`. @return the experiment, or every fault by its key
/// @param other  the network in the place of the file's own; absent: its own
ConfigResult<ExperimentFile> load_experiment(const std::string& path,
                                             const OtherFabric* other = nullptr);

/// Returns `file` without its `base`, which is the path of another experiment relative to
/// `directory`, or the name of one in conf/experiments. A file that says nothing of arms has those
/// of the base, its question and its seeds. A table of the network, of the job or of background
/// that `file` does not have is taken from the base, and so is every parameter that it does not
/// give. The paths in them, which start at the base's folder, are given from `directory`.
ConfigTable with_base(ConfigTable file, const std::filesystem::path& directory,
                      ConfigIssues& issues);

/// Returns `file` with the overlays of the `presets` that [parameters] and its arms name: files of
/// conf/presets by name, or paths relative to `directory`. What a table says itself lies over them.
ConfigTable with_presets(ConfigTable file, const std::filesystem::path& directory,
                         ConfigIssues& issues);

/// Names the base, or the preset, in the faults of what it gives.
void name_base(const ConfigTable& as_written, const std::filesystem::path& directory,
               ConfigIssues& issues);
void name_presets(const ConfigTable& as_written, const std::filesystem::path& directory,
                  ConfigIssues& issues);

/// Returns `file` without its `rivals`, which is the path of a file of arms relative to
/// `directory`. The arms that `file` does not have by their label are appended to its own, and
/// "rivals" among the arms of a sweep stands for all of them.
ConfigTable with_rivals(ConfigTable file, const std::filesystem::path& directory,
                        ConfigIssues& issues);

/// The key of [network] for the number of hosts that send background in a dumbbell, and of those
/// that receive it.
inline constexpr const char* kBackgroundHosts = "background_hosts";

/// Returns `file` with the switches, the link and the hosts of a dumbbell, if its [network] has a
/// `rate`, which is that of the link and of all hosts: workers and senders of background on one
/// side, servers and its receivers on the other. A job that [parameters] give a collective without
/// servers has half of its workers on each side. A fifth of `rtt` is spent between hosts and
/// switches each way; hosts of background have delays that differ by a fifth.
ConfigTable with_dumbbell(ConfigTable file, ConfigIssues& issues);

/// Does the same as load_experiment() for a table. @param directory where relative paths start
ConfigResult<ExperimentFile> experiment_from(const ConfigTable& file,
                                             const std::filesystem::path& directory,
                                             const OtherFabric* other = nullptr);

/// Returns the parameters of one job of a list: those of the case with its own in their place.
CaseParameters parameters_of(const ListedJob& job, const CaseParameters& of_case, Duration rtt);

/// Tells a fault of a job by its [[job]], or by the line of the list in which it stands.
void fault_of_job(const Checks& root, const ListedJob& job, std::string_view key,
                  std::string_view problem);

/// Returns whether a job has servers. @param parameters of the job
bool has_servers(const CaseParameters& parameters);

/// Reads the list into `experiment.jobs`, and adds the groups of hosts of the jobs. A key of a job
/// is its own, or a parameter, or a setting `job.KEY` that holds for it alone; `transport` is that
/// of its bursts. A job whose `list` names a file stands for the jobs of that file, see job_list.h.
/// @pre the fabric is built
void read_job_list(const ConfigValue& list, ExperimentFile& experiment, ConfigIssues& issues);

/// Builds the fabric of an experiment that has [fabric], and sets network.rtt to its longest round
/// trip. @param other  the network in its place, or nullptr
void use_fabric(ExperimentFile& experiment, const OtherFabric* other, ConfigIssues& issues);

/// Checks the rules of [[switch]], [[link]] and [[hosts]].
void check_switches_and_hosts(const Checks& root, const ExperimentFile& experiment);

/// Checks all rules except those of the sweeps, which read_sweeps() checks. Pure.
ConfigIssues validate(const ExperimentFile& experiment);

/// Returns the role of an arm, as given or as it has it by its settings. @pre settled
ArmRole role_of(const Arm& arm);

/// Returns whether a file, with what it inherits, says nothing of a job or of its hosts.
bool is_without_job(const ConfigTable& file);

/// Refuses what a file without a job says of one, in [parameters], arms and sweeps.
/// @param as_written  without what it inherits
void refuse_settings_of_jobs(const ConfigTable& as_written, ConfigIssues& issues);

/// Checks the rules of an experiment without a job: that something ends its runs, and that no arm
/// acts on bursts.
/// @param file  with what it inherits
void check_without_job(const Checks& root, const ExperimentFile& experiment,
                       const ConfigTable& file);

/// Checks the labels of the arms and what they are compared with.
void check_arms(const Checks& root, const ExperimentFile& experiment);

/// Returns the entry of `list` with this name; nullptr, with a fault recorded, if there is none.
template <class List>
auto* find_named(const Checks& at, std::string_view key, const List& list, const std::string& name,
                 std::string_view kind) {
  const auto it = std::ranges::find_if(list, [&](const auto& e) { return e.name == name; });
  if (it != list.end()) return &*it;
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const auto& e : list) names.emplace_back(e.name);
  at.fault(key, Checks::quoted(name),
           "no [[" + std::string(kind) + "]] has this name" + suggestion(name, names));
  return static_cast<decltype(&*it)>(nullptr);
}

/// Checks that what the parameters say of background has hosts.
void check_background(const Checks& at, const ExperimentFile& experiment,
                      const CaseParameters& parameters);

/// Reads [[sweep]] of `file` into `experiment.sweeps`. @pre arms are read
void read_sweeps(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues);

/// Returns the value that every setting of setting_names has in a case.
Parameters resolved_settings(const ExperimentFile& experiment, const CaseParameters& parameters);

/// Returns Case::parameters: those of to_parameters(), followed by resolved_settings().
Parameters resolved_parameters(const ExperimentFile& experiment, const CaseParameters& parameters);

/// Reads and writes the text form of a HostCount.
Parsed<HostCount> parse_host_count(std::string_view text);
std::string format_host_count(const HostCount& count);

}  // namespace outrider::lab
