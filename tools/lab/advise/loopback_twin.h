#pragma once

#include <string>

#include "tools/lab/advise/cluster.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// A cluster as two processes of one machine can carry it: slower by one factor, so that a round
/// trip, the queue and its thresholds have as many packets as before, and with smaller bursts. What
/// remedies bring there is not what they bring the cluster, but virtual time can be asked about the
/// twin as well.
struct LoopbackTwin {
  Cluster cluster;
  Point parameters{};         ///< ClusterQuestion::parameters
  double slower = 1;          ///< rates are divided by it, and times multiplied
  double smaller_bursts = 1;  ///< factor of their bytes, and of the time between them
};

/// Returns why a cluster has no twin; empty if it has one.
[[nodiscard]] std::string no_twin_because(const Cluster& cluster);

/// Reads the profile of the cluster's model. @pre it has a twin, and is valid
[[nodiscard]] LoopbackTwin loopback_twin(const Cluster& cluster);

}  // namespace outrider::lab
