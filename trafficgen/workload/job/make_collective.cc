#include "trafficgen/workload/job/make_collective.h"

#include "trafficgen/workload/collective/parameter_server/parameter_server.h"
#include "trafficgen/workload/collective/ring/ring.h"

namespace outrider::tg {

std::unique_ptr<CollectiveOperation> make_collective(Collective kind, const CollectiveSetup& setup,
                                                     JobRecords& records,
                                                     CollectiveOperation::Owner& owner) {
  if (kind == Collective::kRing) return std::make_unique<Ring>(setup, records, owner);
  return std::make_unique<ParameterServer>(setup, records, owner);
}

}  // namespace outrider::tg
