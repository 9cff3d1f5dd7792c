#pragma once

#include <chrono>
#include <tuple>

#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "trafficgen/workload/job_config.h"

namespace outrider::tg {

// The structured bindings stop compiling when a struct gains a field.
inline auto fields(const StragglerConfig& c) {
  const auto& [workers, share, factor, delay, shape] = c;
  return std::tuple(workers, share, factor, delay, shape);
}

inline auto fields(const PolicyConfig& c) {
  const auto& [granularity, partition, credit, fusion, cycle, bandwidth, error, profile] = c;
  return std::tuple(granularity, partition, credit, fusion, cycle,
                    bandwidth ? bandwidth->bits_per_second : 0, error, profile);
}

inline auto fields(const JobConfig& c) {
  const auto& [name, workers, servers, transport, collective, sync, bound, r2sp, shards,
               send_policy, policy, model, bytes, pull, iterations, start, stop, arrivals, schedule,
               first, period, jitter, compute, compute_jitter, shape, batch, factors, stragglers,
               aggregate, announce, learner, port] = c;
  const auto& [source, lead, threshold, timeout, form, signal_port, faults] = announce;
  return std::tuple(name, workers, servers, transport, collective, sync, bound, shards, send_policy,
                    fields(policy), model, bytes, pull, iterations, start, stop, arrivals, schedule,
                    first, period, jitter, compute, compute_jitter, shape, batch, factors,
                    stragglers.size(), aggregate, r2sp.tune_batch, learner.model, source, lead,
                    threshold, timeout, form, signal_port, port);
}

/// Rules of a job alone; found by expect_each_reported().
inline ConfigIssues validate(const JobConfig& job) {
  ConfigIssues issues, joint;
  check_ranges(Checks(issues, "job[0]"), job);
  check(Checks(joint, "job[0]"), job);
  merge_issues(issues, joint);
  return issues;
}

/// A valid job of a file with the hosts w0, w1, s0 and the transport "dctcp".
inline JobConfig full_job() {
  using namespace std::chrono_literals;
  return {.name = "fixed",
          .workers = {"w0", "w1"},
          .servers = {"s0"},
          .transport = "dctcp",
          .burst_bytes = 1'000'000,
          .pull = false,
          .iterations = 7,
          .schedule = Schedule::kFixed,
          .first_due = 2s,
          .period = 1s,
          .due_jitter = 10ms,
          .compute = 5ms,
          .compute_jitter = 0.1,
          .aggregate = 3us,
          .announce = {.lead_source = LeadSource::kOverlap,
                       .lead = 20ms,
                       .threshold_packets = 15,
                       .ack_timeout = 9ms,
                       .signal_form = SignalForm::kUdp,
                       .signal_port = 5901},
          .tcp_port = 5001};
}

}  // namespace outrider::tg
