#pragma once

#include "common/config/config_value.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Records every setting of TCP that was changed, as none acts with protocol "roce".
/// @param given,defaults TCP's settings, by key
void check_roce_transport(const Checks& at, const TransportConfig& transport,
                          const ConfigTable& given, const ConfigTable& defaults);

/// Records every setting of a job that its transport's protocol "roce" does not permit.
/// @pre the job's transport exists
void check_roce_job(const Checks& at, const JobConfig& job, const GeneratorConfig& config);

}  // namespace outrider::tg
