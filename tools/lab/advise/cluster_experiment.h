#pragma once

#include <filesystem>
#include <string>

#include "common/config/config_value.h"
#include "tools/lab/advise/cluster.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// The purpose of an experiment on a cluster.
struct ClusterQuestion {
  std::string name;      ///< of the experiment
  std::string question;  ///< a sentence
  bool brief = false;    ///< fewer iterations, for a first look
  Point parameters{};    ///< over those that follow from the cluster
};

/// Returns an experiment in which `off` is the cluster as it is today and
/// every arm of conf/remedies.toml, and where gradients have an order of conf/policies.toml, is
/// there to be compared with it: two switches with one link
/// between them, workers and background on one side, servers on the other. Every size follows from
/// the cluster: K and the room of a queue in full frames, h as a quarter of K, times in round
/// trips.
/// @param conf  the folder of both files
/// @throws std::runtime_error if policies.toml cannot be read
/// @pre the cluster is valid, and its files have paths
[[nodiscard]] ConfigTable experiment_of(const Cluster& cluster, const ClusterQuestion& question,
                                        const std::filesystem::path& conf);

}  // namespace outrider::lab
