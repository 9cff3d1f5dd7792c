#include "tools/lab/advise/what_if.h"

#include <array>
#include <utility>

#include "common/config/quantities.h"
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
  if (cluster.job.period) {
    const std::string jitter = format_duration(*cluster.job.period / kDueJitter_periods);
    changed.text = "due times that jitter by " + jitter;
    changed.parameters = {{"job.due_jitter", ConfigValue(jitter)}};
  } else {
    changed.text = formatted("computing that jitters by %.0f %%", 100 * kComputeJitter);
    changed.parameters = {{"job.compute_jitter", ConfigValue(kComputeJitter)}};
  }
  return changed;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Cluster& cluster) {
  std::vector<WhatIf> all{with_jitter(cluster)};
  for (const Factor& by : kFactors) {
    if (cluster.background.load > 0 && by.value * cluster.background.load <= kMostLoad) {
      all.push_back(made(cluster, by, "load"));
      all.back().cluster.background.load *= by.value;
    }
    all.push_back(made(cluster, by, "rtt"));
    auto& rtt = all.back().cluster.network.rtt;
    rtt = Duration(static_cast<Duration::rep>(static_cast<double>(rtt.count()) * by.value));
    all.push_back(made(cluster, by, "buffer"));
    auto& buffer = all.back().cluster.network.buffer_bytes;
    buffer = static_cast<std::uint64_t>(static_cast<double>(buffer) * by.value);
  }
  // What the switch marks at stays as it is today.
  for (WhatIf& one : all)
    if (cluster.network.marks) one.cluster.network.mark_at_bytes = mark_at(cluster.network);
  return all;
}

}  // namespace outrider::lab
