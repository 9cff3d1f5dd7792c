#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/ranks/peers.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/partition.h"

namespace outrider::lab {

/// How cases are cut across ranks.
struct RankOptions {
  /// A rank that can send fewer packets in a window waits more than it works, see docs/ranks.md.
  static constexpr std::uint64_t kLeastWork = 100;

  std::uint32_t ranks = 1;
  CutKind cut = CutKind::kBlocks;
  std::uint32_t tiles = 0;                ///< of each rank, see make_partition()
  std::uint64_t least_work = kLeastWork;  ///< packets, see check_work()
  bool profile = false;                   ///< print what each rank waited for
};

/// Returns why a case cannot be cut so; empty if all can be. The text names the case.
[[nodiscard]] std::string uncuttable(const RunOrder& order, const RankOptions& options);

/// Runs cases like run_cases_virtual(), each on several processes of this machine.
/// @param jobs  cases at a time. @pre options.ranks > 1 and nothing is uncuttable()
RunOutcome run_cases_on_local_ranks(const RunOrder& order, std::size_t jobs,
                                    const RankOptions& options);

/// Runs cases one after another on the ranks of an MPI job, as its rank 0. A rank that dies ends
/// the job, and all cases that have not ended.
RunOutcome run_cases_on_peers(const RunOrder& order, Peers& peers, const RankOptions& options);

/// Does what another rank's run_cases_on_peers() asks for, until it has no more.
/// @param references  as the other rank's order has it. @throws std::runtime_error naming the case
void serve_peers(const std::vector<Case>& cases, const std::vector<std::string>& names,
                 ReferenceRuns references, Peers& peers, const RankOptions& options);

}  // namespace outrider::lab
