#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/lab/ranks/peers.h"

namespace outrider::lab {

/// Does one rank's share of a piece of work. @return the result, of rank 0; others return anything
/// @throws std::exception if the work failed
using RankWork = std::function<std::string(Peers& peers)>;

/// Forks a process for each rank; they share memory. Nothing else of the machine is needed.
/// @return what rank 0 returned
///
/// A rank that dies or fails ends the others.
///
/// @pre the EAL does not run in this process
/// @throws EnvironmentError if a process or the memory cannot be made
/// @throws std::runtime_error naming the rank that failed, and why
std::string run_on_local_ranks(std::uint32_t ranks, const RankWork& work);

}  // namespace outrider::lab
