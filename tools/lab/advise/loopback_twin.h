#pragma once

#include <string>

#include "tools/lab/advise/advised_file.h"

namespace outrider::lab {

/// The experiment as two processes of one machine can carry it: slower by one factor, so
/// that a round trip, the queue and its thresholds have as many packets as before, and with smaller
/// bursts. What remedies bring there is not what they bring the cluster, but virtual time can be
/// asked about the twin as well.
struct LoopbackTwin {
  AdvisedFile advised;
  double slower = 1;          ///< rates are divided by it, and times multiplied
  double smaller_bursts = 1;  ///< factor of their bytes, and of the time between them
};

/// Returns why there is no twin; empty if there is one.
[[nodiscard]] std::string no_twin_because(const AdvisedFile& advised);

/// Reads the profile of the job's model. @pre there is a twin
[[nodiscard]] LoopbackTwin loopback_twin(const AdvisedFile& advised);

}  // namespace outrider::lab
