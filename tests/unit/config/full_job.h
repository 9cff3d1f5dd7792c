#pragma once

#include <chrono>

#include "common/config/config_file.h"
#include "common/config/range_checker.h"
#include "trafficgen/workload/config/job_config.h"

namespace outrider::tg {

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
                       .repeats = 3,
                       .repeat_after = 2ms,
                       .signal_form = SignalForm::kUdp,
                       .signal_port = 5901},
          .tcp_port = 5001};
}

}  // namespace outrider::tg
