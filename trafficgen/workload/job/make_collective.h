#pragma once

#include <memory>

#include "trafficgen/workload/collective/collective.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

/// The one list of collectives. @param records,owner must outlive it
std::unique_ptr<CollectiveOperation> make_collective(Collective kind, const CollectiveSetup& setup,
                                                     JobRecords& records,
                                                     CollectiveOperation::Owner& owner);

}  // namespace outrider::tg
