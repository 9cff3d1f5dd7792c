#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "tools/lab/experiment/experiment_parameters.h"

namespace outrider::lab {

/// [[switch]]
struct SwitchEntry {
  std::string name;
};

/// [[link]] between two switches; each end becomes a port "to_OTHER".
struct TrunkEntry {
  std::string a;
  std::string b;
  BitRate rate{};
  Duration delay{};
  bool gray = false;  ///< loses the share `gray_loss` of its packets, each way
};

/// Hosts that jobs share: a server's, and one for each worker.
inline constexpr const char* kWorkersAndServer = "workers + 1";

/// How many hosts a group has: a number, or "workers" or "servers", of all jobs together, or
/// kWorkersAndServer.
struct HostCount {
  std::uint32_t fixed = 1;
  std::string parameter{};  ///< empty: fixed
};

/// [[hosts]]: alike, on one switch.
struct HostGroupEntry {
  std::string name;
  HostCount count{};
  std::string at_switch;
  BitRate rate{};
  Duration delay{};             ///< one way, host to switch
  double delay_spread = 0;      ///< each host's delay is drawn from delay x (1 -+ this)
  std::uint32_t tso_bytes = 0;  ///< payload of a connection that leaves back to back; 0: a segment
};

struct NetworkEntry {
  std::string measured;  ///< "switch.port" whose queue the headline metrics are of
  Duration rtt{};        ///< worker to server and back, propagation alone, without spread
};

struct GroupPair {
  std::string from;
  std::string to;
};

struct JobEntry {
  std::string workers = "worker";
  std::string servers = "server";
  /// Servers and workers are on these: each job has its server on one host, by `placement`,
  /// and a worker on every other. Empty: they have hosts of their own.
  std::string hosts{};
  /// Or no servers: the workers of a ring all-reduce are on these, in turn.
  std::vector<std::string> ring{};

  /// Of the round trip: where one end is, and the other.
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

/// [[arm]]: what is compared with what, at every point.
struct Arm {
  std::string label;  ///< begins with "off" or "on"
  CaseParameters parameters;
};

/// Parameters and settings that a point of the matrix changes, by name.
using Point = std::vector<std::pair<std::string, ConfigValue>>;

/// The points that one [[vary]] or [[cross]] adds, each run with `arms`.
struct Sweep {
  std::string key;  ///< where it stands, for messages: "vary[0]"
  std::vector<std::string> arms;
  std::vector<Point> points;
};

/// One file of conf/experiments: a topology, a job, background, and the matrix
/// of cases, which is every arm at the point of [parameters] and at the points
/// of the sweeps.
struct ExperimentFile {
  std::string name;
  std::string question;
  std::uint32_t seeds = 1;  ///< runs of every case; seeds 1, 2, ...
  NetworkEntry network;
  std::vector<SwitchEntry> switches;
  std::vector<TrunkEntry> trunks;
  std::vector<HostGroupEntry> hosts;
  GroupPair background;  ///< both empty: none
  JobEntry job;
  CaseParameters parameters;
  std::vector<Arm> arms;
  std::vector<Sweep> sweeps;
  bool sweeps_alone = false;  ///< the point of [parameters] itself is none: a [matrix] has all
  /// Settings that the file gives anywhere, by their dotted keys: every case lists them all.
  std::vector<std::string> setting_names;
  std::filesystem::path directory;  ///< that relative paths start from
};

/// Reads and checks the file; every fault by its key.
ConfigResult<ExperimentFile> load_experiment(const std::string& path);

/// The table without its `base`, the path of another experiment from `directory`, and with
/// what it has not itself of that one's network, hosts and parameters.
ConfigTable with_base(ConfigTable file, const std::filesystem::path& directory,
                      ConfigIssues& issues);

/// The same from a table. @param directory of relative paths
ConfigResult<ExperimentFile> experiment_from(const ConfigTable& file,
                                             const std::filesystem::path& directory);

/// All rules but those of the sweeps, which are read by hand. Pure.
ConfigIssues validate(const ExperimentFile& experiment);

/// Takes [matrix] apart: its regulator's parameters become arms of `file`, the others a
/// [[cross]] of all arms, `seed` the number of seeds.
struct MatrixTaken {
  ConfigTable file;           ///< without it
  bool sweeps_alone = false;  ///< it has every point there is
  /// Where what was made of it stands in `file`: "arm[", "cross[0]"; empty: nothing.
  std::string arms_key{};
  std::string cross_key{};
};
MatrixTaken take_matrix(const ConfigTable& file, ConfigIssues& issues);

/// Faults of what was made of the matrix, by the matrix's keys.
void name_by_matrix(const MatrixTaken& taken, ConfigIssues& issues);

/// Reads [[vary]] and [[cross]] of `file` into `experiment.sweeps`. @pre arms are read
void read_sweeps(const ConfigTable& file, ExperimentFile& experiment, ConfigIssues& issues);

/// What every setting of setting_names comes to in a case.
Parameters resolved_settings(const ExperimentFile& experiment, const CaseParameters& parameters);

/// Behind what to_parameters() says: Case::parameters.
Parameters resolved_parameters(const ExperimentFile& experiment, const CaseParameters& parameters);

Parsed<HostCount> parse_host_count(std::string_view text);
std::string format_host_count(const HostCount& count);

}  // namespace outrider::lab
