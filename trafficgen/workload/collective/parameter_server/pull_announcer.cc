#include "trafficgen/workload/collective/parameter_server/pull_announcer.h"

#include "trafficgen/workload/announce/pull_starts.h"
#include "trafficgen/workload/exchange/job_records.h"

namespace outrider::tg {

namespace {

BurstAnnouncer::Setup announcer_setup(const PsContext& context, const Lane& pull) {
  const CollectiveSetup& job = context.setup;
  const auto workers = static_cast<std::uint32_t>(job.workers.size());
  return {.config = job.pull_starts->config,
          // Faults are drawn by worker: pulls have draws of their own behind those of all pushes.
          .worker = workers * (1 + pull.target) + pull.worker,
          .targets = {{job.workers[pull.worker], job.shard_bytes[pull.target]}},
          .key = job.pull_starts->key,
          .dscp = job.pull_starts->dscp};
}

}  // namespace

PullAnnouncer::PullAnnouncer(PsContext& context, const Lane& pull, Host& server, Client& client)
    : context_(context),
      pull_(pull),
      client_(client),
      announcer_(announcer_setup(context, pull), *context.setup.pull_starts->faults, server,
                 *this) {}

/// A START names its burst, which the record may not do yet.
BurstRecord& PullAnnouncer::burst(std::uint32_t iteration) noexcept {
  BurstRecord& record = context_.records.burst(pull_.worker, iteration, BurstDirection::kPull);
  record.identity = context_.pull_identity(pull_.worker, iteration);
  return record;
}

}  // namespace outrider::tg
