#pragma once

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Settings of a [[transport]] that its protocol knows, and no others.
void check_protocol(const Checks& at, const TransportConfig& transport);

/// What a job over the bounded-loss transport cannot do. @param at of the job
void check_mlt_job(const Checks& at, const JobConfig& job, const GeneratorConfig& config);

}  // namespace outrider::tg
