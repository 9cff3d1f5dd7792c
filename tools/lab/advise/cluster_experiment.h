#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/advise/cluster.h"

namespace outrider::lab {

/// What an experiment on a cluster is for.
struct ClusterQuestion {
  std::string name;      ///< of the experiment
  std::string question;  ///< a sentence
  /// Further lines of [parameters].
  std::vector<std::string> parameters{};
};

/// Returns an experiment, as text of its file, in which `off` is the cluster as it is today and
/// every arm of conf/remedies.toml is there to be compared with it: two switches with one link
/// between them, workers and background on one side, servers on the other. Every size follows from
/// the cluster: K and the room of a queue in full frames, h as a quarter of K, times in round
/// trips.
/// @param conf  the folder of remedies.toml
/// @pre the cluster is valid, and its files have paths
[[nodiscard]] std::string experiment_text(const Cluster& cluster, const ClusterQuestion& question,
                                          const std::filesystem::path& conf);

}  // namespace outrider::lab
