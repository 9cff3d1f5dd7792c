#pragma once

#include <memory>

#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

/// Makes the collective of a job; collectives are listed here only.
/// @param records,owner must outlive the result
std::unique_ptr<CollectiveOperation> make_collective(const JobConfig& job,
                                                     const CollectiveSetup& setup,
                                                     JobRecords& records,
                                                     CollectiveOperation::Owner& owner);

}  // namespace outrider::tg
