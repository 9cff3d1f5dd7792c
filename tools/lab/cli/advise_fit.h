#pragma once

#include <optional>

#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/cli/advise_rounds.h"

namespace outrider::lab {

/// What advise tries so that it ends in time.
struct FittingFile {
  AdvisedFile advised;      ///< with smaller bursts, if they have to be
  unsigned smaller = 1;     ///< by how much
  double case_seconds = 0;  ///< that a case adds to the wall time, of a probe; 0: not measured
  UsableArms arms{};
};

/// Makes bursts smaller if all arms may take longer than a user wants to wait. Runs today's setting
/// with the smallest bursts then, to see how long a case takes, and says so.
/// @param room_seconds  that a user wants to wait in all; `left_seconds` of it are left
/// @return nothing, after printing a message, on a fault or Ctrl-C
std::optional<FittingFile> fit(AdviceRounds& rounds, const AdvisedFile& advised,
                               double room_seconds, double left_seconds);

}  // namespace outrider::lab
