#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "trafficgen/config/controller_config.h"
#include "trafficgen/policy/policy_config.h"

namespace outrider::lab {

/// The freedom to change the switch whose link is shared.
enum class SwitchFreedom : std::uint8_t {
  kNothing,
  kSettings,  ///< its thresholds and queues, whoever made it
  kOutrider,  ///< outrider-switch may take its place
};

/// [network]: one link that the job shares with background, as the job's packets meet it.
struct ClusterNetwork {
  BitRate rate{};                                ///< of hosts and of the shared link
  Duration rtt{};                                ///< worker to server and back, with empty queues
  std::uint64_t buffer_bytes = 0;                ///< of one port, frames
  bool marks = true;                             ///< the switch gives CE today
  std::optional<std::uint64_t> mark_at_bytes{};  ///< today's K; absent: see mark_at()
  bool second_queue = true;                      ///< there is one that the job may have
};

/// [change]
struct ClusterChange {
  SwitchFreedom switches = SwitchFreedom::kOutrider;
  bool hosts = true;  ///< workers may announce their bursts
};

/// [job]: a parameter-server job with one bottleneck: workers push across the link to servers.
struct ClusterJob {
  std::uint32_t workers = 0;
  std::uint32_t servers = 1;
  std::string model{};                         ///< a file of conf/models by name, or a path
  std::optional<std::uint64_t> burst_bytes{};  ///< of each worker, in place of a model
  std::optional<Duration> period{};            ///< with `burst`: from one to the next
  tg::SendPolicyKind policy = tg::SendPolicyKind::kFifo;
  tg::Controller controller = tg::Controller::kDctcp;
};

/// [background]
struct ClusterBackground {
  std::uint32_t long_flows = 0;
  double load = 0;      ///< share of the link
  std::string sizes{};  ///< a file of conf/distributions by name, or a path
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
  ClusterChange change;
  ClusterJob job;
  ClusterBackground background;
  ClusterGoal goal;
};

void describe(Settings& v, ClusterNetwork& c);
void describe(Settings& v, ClusterChange& c);
void describe(Settings& v, ClusterJob& c);
void describe(Settings& v, ClusterBackground& c);
void describe(Settings& v, ClusterGoal& c);
void describe(Settings& v, Cluster& c);
ConfigIssues validate(const Cluster& cluster);

/// Reads a cluster. Names of models and distributions become paths.
/// @param conf  the folder of models/ and distributions/
/// @return the cluster, or every fault by its key
ConfigResult<Cluster> load_cluster(const std::string& path, const std::filesystem::path& conf);

/// Returns K: as given, else RTT x C / sqrt(3), which the PCN paper takes for DCTCP, and at least
/// ten full frames.
[[nodiscard]] std::uint64_t mark_at(const ClusterNetwork& network);

/// Returns a file to begin from, in which every key says what it is.
[[nodiscard]] std::string new_cluster();

}  // namespace outrider::lab
