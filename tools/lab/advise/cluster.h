#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "tools/lab/fabric/host_placement.h"
#include "trafficgen/config/controller_config.h"
#include "trafficgen/policy/policy_config.h"
#include "trafficgen/workload/config/collective_config.h"

namespace outrider::lab {

/// The freedom to change the switch whose link is shared.
enum class SwitchFreedom : std::uint8_t {
  kNothing,
  kSettings,  ///< its thresholds and queues, whoever made it
  kOutrider,  ///< outrider-switch may take its place
};

/// [network]: the buffers and marks of today, and without a fabric one link that the job shares
/// with background, as the job's packets meet it.
struct ClusterNetwork {
  /// Of hosts and of the shared link; worker to server and back, with empty queues. A fabric has
  /// its own.
  std::optional<BitRate> rate{};
  std::optional<Duration> rtt{};
  std::uint64_t buffer_bytes = 0;  ///< frames; of one port, or of the switch if `shared`
  bool shared = false;             ///< its ports take what they need of one buffer
  std::optional<double> alpha{};   ///< then: a port may hold so many times what is free; absent: 1
  bool marks = true;               ///< the switch gives CE today
  std::optional<std::uint64_t> mark_at_bytes{};  ///< today's K; absent: see mark_at()
  bool second_queue = true;                      ///< there is one that the job may have
};

/// [change]
struct ClusterChange {
  SwitchFreedom switches = SwitchFreedom::kOutrider;
  bool hosts = true;   ///< workers may announce their bursts
  bool policy = true;  ///< the framework may send in another order
};

/// One [[job]], or several alike. Without a fabric there is one, of a parameter server, and its
/// workers push across the link.
struct ClusterJob {
  std::string name = "job";
  std::uint32_t count = 1;
  std::uint32_t workers = 0;
  std::uint32_t servers = 1;  ///< of a parameter server alone
  tg::Collective collective = tg::Collective::kPs;
  std::optional<HostPlacement> placement{};    ///< in a fabric; absent: pack
  std::string model{};                         ///< a file of conf/models by name, or a path
  std::optional<std::uint64_t> burst_bytes{};  ///< of each worker, in place of a model
  std::optional<Duration> period{};            ///< with `burst`: from one to the next
  tg::SendPolicyKind policy = tg::SendPolicyKind::kFifo;
  std::string protocol = "tcp";  ///< the only one that advise knows
  tg::Controller controller = tg::Controller::kDctcp;
};

/// [background]
struct ClusterBackground {
  std::uint32_t long_flows = 0;
  double load = 0;          ///< share of the link; in a fabric, of the NICs of its hosts
  std::string sizes{};      ///< a file of conf/distributions by name, or a path
  std::string list{};       ///< a file of flows
  std::string capture{};    ///< a pcap or pcapng file, which one pair of hosts plays
  std::uint32_t hosts = 0;  ///< that take part; 0: as many as long_flows need, or a few
  HostPlacement placement = HostPlacement::kSpread;  ///< in a fabric
  std::string protocol = "tcp";                      ///< as that of a job
  tg::Controller controller = tg::Controller::kDctcp;
  bool ecn = true;
};

/// [goal]: what a remedy may cost, and what it has to bring.
struct ClusterGoal {
  double background_lost = 0.1;  ///< bytes of background for each byte of bursts
  double short_flows = 1.1;      ///< p99 of short flows over today's
  double gain = 0.05;            ///< share of the time; less is not worth a change
};

/// A cluster in its owner's words, which `outrider-lab advise` reads.
struct Cluster {
  ClusterNetwork network;
  ConfigTable fabric{};  ///< [fabric] of an experiment; without members there is none
  ClusterChange change;
  std::vector<ClusterJob> jobs;
  ClusterBackground background;
  ClusterGoal goal;

  [[nodiscard]] bool in_fabric() const { return !fabric.members.empty(); }
  [[nodiscard]] bool background_among_themselves() const {
    return in_fabric() && background.long_flows == 0;
  }
  /// Says whether its jobs compute between their bursts. All do, or none.
  [[nodiscard]] bool closed_loop() const { return !jobs.front().period; }
  [[nodiscard]] bool several_jobs() const { return jobs.size() > 1 || jobs.front().count > 1; }
  /// Says whether the job sends gradients that another order may move. Jobs of a fabric have
  /// settings of their own, which arms leave alone.
  [[nodiscard]] bool has_order() const { return closed_loop() && !in_fabric(); }
};

void describe(Settings& v, ClusterNetwork& c);
void describe(Settings& v, ClusterChange& c);
void describe(Settings& v, ClusterJob& c);
void describe(Settings& v, ClusterBackground& c);
void describe(Settings& v, ClusterGoal& c);
void describe(Settings& v, Cluster& c);
ConfigIssues validate(const Cluster& cluster);

/// Returns how many hosts send background; as many others receive it. In a fabric without long
/// flows there is one group, whose hosts send among themselves.
[[nodiscard]] std::uint32_t background_senders(const Cluster& cluster);
/// Returns how many hosts a list of flows may name.
[[nodiscard]] std::uint32_t listed_hosts(const Cluster& cluster);

/// The slowest host's rate and the longest round trip.
struct ClusterPath {
  BitRate rate{};
  Duration rtt{};
};

/// Returns what the network says, or what its fabric has. @pre the cluster is valid
[[nodiscard]] ClusterPath path_of(const Cluster& cluster);

/// Returns K: as given, else RTT x C / sqrt(3), which the PCN paper takes for DCTCP, and at least
/// ten full frames.
[[nodiscard]] std::uint64_t mark_at(const Cluster& cluster);

}  // namespace outrider::lab
