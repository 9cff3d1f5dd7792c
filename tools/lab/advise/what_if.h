#pragma once

#include <string>
#include <vector>

#include "tools/lab/advise/cluster.h"
#include "tools/lab/experiment/experiment.h"

namespace outrider::lab {

/// A cluster that differs in one thing from the user's, which may be other than the user thinks.
struct WhatIf {
  std::string name;  ///< of its folder: "twice-load"
  std::string text;  ///< "twice the load"
  Cluster cluster;
  Point parameters{};  ///< ClusterQuestion::parameters
};

/// Returns the changes that are possible for a cluster, the likeliest first. Pure.
[[nodiscard]] std::vector<WhatIf> what_ifs(const Cluster& cluster);

}  // namespace outrider::lab
