#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/partition.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// What one rank reports of its part of a run.
struct RankResult {
  RunResult result;
  std::vector<std::uint32_t> flows_of_jobs{};  ///< see tg::Generator::flows_of_jobs()
  std::map<std::uint32_t, std::uint64_t> sent{}, received{};  ///< packets by number of cut wire
  std::uint64_t events = 0;
};

/// Converts to and from the text in which a rank sends it to rank 0.
[[nodiscard]] std::string serialize(const RankResult& part);
/// @throws std::runtime_error
[[nodiscard]] RankResult rank_result_from(const std::string& text);

/// Joins the reports of all ranks to the one that a single rank would give: counts are summed, and
/// records come in the order of the configuration. The ledger balances if that of every rank does,
/// and if what was sent to other ranks was received there, wire by wire.
///
/// @param parts  [ranks]. @throws std::runtime_error if they do not belong to the partition
[[nodiscard]] RunResult join_parts(const Case& c, const Partition& partition,
                                   std::vector<RankResult> parts);

}  // namespace outrider::lab
