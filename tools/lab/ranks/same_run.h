#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/ranks/peers.h"
#include "tools/lab/ranks/ranked_cases.h"

namespace outrider::lab {

/// Program, cases and cut of a rank, which must be the same everywhere: ranks exchange packets and
/// results as the program has them in memory, and each plans and cuts the cases itself.
struct RankIdentity {
  std::string machine;  ///< for messages alone
  std::string program;  ///< program_identity()
  std::string cases;    ///< identity of all that determines the runs
  std::string cut;      ///< identity of what each rank has of each case
  std::string fault;    ///< why this rank cannot run; empty: it can
};

/// @param cases  that options.cut can cut
[[nodiscard]] RankIdentity rank_identity(const std::vector<Case>& cases,
                                         const RankOptions& options);
[[nodiscard]] RankIdentity rank_identity(std::string fault);

/// Compares all ranks with rank 0. All of them call it.
/// @return nothing if all can run together; else, at rank 0, a line for each rank that cannot, with
///         what mends it, but for rank 0 itself and those with its fault; at the other ranks
///         nothing but an empty text
/// @throws PeerGone
[[nodiscard]] std::optional<std::string> difference(Peers& peers, const RankIdentity& mine);

}  // namespace outrider::lab
