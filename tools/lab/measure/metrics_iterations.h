#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

/// The push, or the pull, of all workers of a job in one iteration.
struct IterationBursts {
  std::uint16_t job = 0;
  std::uint32_t iteration = 0;
  bool flagged = false;                  ///< by flag_disturbed()
  bool complete = false;                 ///< every worker of the job has a burst that was delivered
  std::int64_t due_ns = tg::kNotYet_ns;  ///< earliest gradients ready
  std::int64_t announced_ns =
      tg::kNotYet_ns;  ///< earliest START, or due if that is earlier or alone
  std::int64_t delivered_ns = tg::kNotYet_ns;   ///< latest delivery so far
  std::int64_t completion_ns = tg::kNotYet_ns;  ///< slowest worker's first byte sent to delivered
  std::vector<const tg::BurstRecord*> bursts;   ///< by worker
};

/// Returns the earlier of two instants. An instant that is tg::kNotYet_ns is missing.
std::int64_t earlier(std::int64_t a, std::int64_t b) noexcept;

/// Returns the iterations in the order of (job, iteration). The pointers are into `report`.
std::vector<IterationBursts> iterations_of(const Case& definition,
                                           const tg::GeneratorReport& report,
                                           BurstDirection direction);

/// Flags every iteration that has a poll gap longer than `tolerated` between its START and its
/// last delivery. The gap may be one of the generator's loop or of a switch's loop, whose clock
/// is `offset_ns` ahead. Flags all iterations if the reports may not have all such gaps.
void flag_disturbed(std::vector<IterationBursts>& iterations, const RunResult& result,
                    std::int64_t offset_ns, Duration tolerated);

/// Returns the number of workers of a job, or `seen` if the configuration does not have the job.
std::size_t workers_of(const Case& definition, std::uint16_t job, std::size_t seen);

/// Returns the span over which a run's throughputs are taken: from the earliest START or
/// due time, whichever is earlier, to the end; the whole run if it has no burst.
std::pair<std::int64_t, std::int64_t> measured_span_ns(const Case& definition,
                                                       const tg::GeneratorReport& report);

}  // namespace outrider::lab
