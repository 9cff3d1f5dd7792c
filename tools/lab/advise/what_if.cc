#include "tools/lab/advise/what_if.h"

#include <array>
#include <optional>
#include <utility>

#include "common/config/config_file.h"
#include "common/config/quantities.h"
#include "tools/lab/fabric/fabric_config.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr double kMostLoad = 0.95;
constexpr double kComputeJitter = 0.2;
constexpr int kDueJitter_periods = 20;  ///< a twentieth of a period

struct Factor {
  const char* name;
  const char* text;
  double value;
};
constexpr std::array kFactors{Factor{"twice", "twice the", 2}, Factor{"half", "half the", 0.5}};

WhatIf made(const Cluster& cluster, const Factor& by, const std::string& what) {
  return {.name = by.name + ('-' + what), .text = by.text + (' ' + what), .cluster = cluster};
}

/// Bursts that come earlier or later than their START has said.
WhatIf with_jitter(const Cluster& cluster) {
  WhatIf changed{.name = "jitter", .text = {}, .cluster = cluster};
  if (const auto& period = cluster.jobs.front().period) {
    const std::string jitter = format_duration(*period / kDueJitter_periods);
    changed.text = "due times that jitter by " + jitter;
    changed.parameters = {{"job.due_jitter", ConfigValue(jitter)}};
  } else {
    changed.text = formatted("computing that jitters by %.0f %%", 100 * kComputeJitter);
    changed.parameters = {{"job.compute_jitter", ConfigValue(kComputeJitter)}};
  }
  return changed;
}

Duration times(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor));
}

/// Returns the cluster with other round trips; nothing if a file lists its delays.
std::optional<Cluster> with_delays(Cluster cluster, double factor) {
  if (!cluster.in_fabric()) {
    cluster.network.rtt = times(*cluster.network.rtt, factor);
    return cluster;
  }
  FabricConfig fabric;
  ConfigIssues ignored;  // told when the file was read
  read_config(cluster.fabric, "fabric", fabric, ignored);
  if (fabric.kind == FabricKind::kFile) return std::nullopt;
  for (auto* delay : {&fabric.host_delay, &fabric.uplink_delay, &fabric.core_delay})
    if (*delay) *delay = times(**delay, factor);
  cluster.fabric = to_config_table(fabric);
  return cluster;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Cluster& cluster) {
  std::vector<WhatIf> all{with_jitter(cluster)};
  for (const Factor& by : kFactors) {
    if (cluster.background.load > 0 && by.value * cluster.background.load <= kMostLoad) {
      all.push_back(made(cluster, by, "load"));
      all.back().cluster.background.load *= by.value;
    }
    if (const auto changed = with_delays(cluster, by.value)) {
      all.push_back(made(cluster, by, "rtt"));
      all.back().cluster = *changed;
    }
    all.push_back(made(cluster, by, "buffer"));
    auto& buffer = all.back().cluster.network.buffer_bytes;
    buffer = static_cast<std::uint64_t>(static_cast<double>(buffer) * by.value);
  }
  if (!cluster.network.marks) return all;
  // What the switch marks at stays as it is today.
  const std::uint64_t mark = mark_at(cluster);
  for (WhatIf& one : all) one.cluster.network.mark_at_bytes = mark;
  return all;
}

}  // namespace outrider::lab
