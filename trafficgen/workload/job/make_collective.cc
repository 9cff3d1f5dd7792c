#include "trafficgen/workload/job/make_collective.h"

#include "trafficgen/workload/collective/parameter_server/parameter_server.h"
#include "trafficgen/workload/collective/schedule/collective_schedule.h"
#include "trafficgen/workload/collective/scheduled/scheduled_collective.h"

namespace outrider::tg {
namespace {

/// @pre the collective has no servers
CollectiveSchedule schedule_of(const JobConfig& job, const CollectiveSetup& setup) {
  const auto ranks = static_cast<std::uint32_t>(setup.workers.size());
  const std::uint64_t bytes = setup.burst_bytes;
  switch (job.collective) {
    case Collective::kHalvingDoubling:
      return halving_doubling_schedule(ranks, bytes, setup.unit_bytes);
    case Collective::kTree:
      return tree_schedule(ranks, bytes);
    case Collective::kAllToAll:
      return all_to_all_schedule(ranks, bytes, setup.unit_bytes, job.all_to_all.skew);
    case Collective::kPipeline:
      return pipeline_schedule(ranks, bytes, micro_batches_of(job));
    case Collective::kSteps:
      return steps_schedule(setup.step_list);
    case Collective::kPs:
    case Collective::kRing:
      break;
  }
  return ring_schedule(ranks, bytes, setup.unit_bytes);
}

}  // namespace

std::unique_ptr<CollectiveOperation> make_collective(const JobConfig& job,
                                                     const CollectiveSetup& setup,
                                                     JobRecords& records,
                                                     CollectiveOperation::Owner& owner) {
  if (job.collective == Collective::kPs)
    return std::make_unique<ParameterServer>(setup, records, owner);
  return std::make_unique<ScheduledCollective>(schedule_of(job, setup), setup, records, owner);
}

}  // namespace outrider::tg
