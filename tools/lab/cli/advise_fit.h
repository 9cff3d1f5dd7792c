#pragma once

#include "common/telemetry/exit_status.h"
#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/cli/advise_rounds.h"

namespace outrider::lab {

/// The arms that advise tries, and how small bursts are, so that it ends in time.
struct FittingFile {
  AdvisedFile advised;      ///< with smaller bursts, if they have to be
  unsigned smaller = 1;     ///< by how much
  double case_seconds = 0;  ///< that a case adds to the wall time, of a probe; 0: not measured
  UsableArms arms{};        ///< none after a fault or Ctrl-C
  int status = kExitUsage;  ///< to end with if there are no arms
};

/// Makes bursts smaller if all arms may take longer than a user wants to wait. Runs today's setting
/// with the smallest bursts then, to see how long a case takes, and says so.
/// @param room_seconds  that a user wants to wait in all; `left_seconds` of it are left
FittingFile fit(AdviceRounds& rounds, const AdvisedFile& advised, double room_seconds,
                double left_seconds);

}  // namespace outrider::lab
