#pragma once

#include "common/config/checks.h"
#include "trafficgen/config/config.h"

namespace outrider::tg {

/// Checks that a [[transport]] has only settings that its protocol uses.
void check_protocol(const Checks& at, const TransportConfig& transport);

/// Rejects what a job cannot do over the bounded-loss transport. @param at place of the job
void check_mlt_job(const Checks& at, const JobConfig& job, const GeneratorConfig& config);

}  // namespace outrider::tg
