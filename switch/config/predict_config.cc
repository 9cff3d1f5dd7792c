#include "switch/config/predict_config.h"

#include "common/config/quantities.h"

namespace outrider {

void describe(Settings& v, PredictPolicy& c) {
  v.choice("from", c.from, kPredictFroms,
           {.help = "a job's rhythm is learned from the first DDL payload after a pause, or from "
                    "its STARTs"});
  v.value("threshold_packets", c.threshold_packets,
          {.range = integers(1, 65535, "packets"), .help = "what START would announce"});
  v.duration("idle_gap", c.idle_gap,
             {.range = durations_above_zero(),
              .help = "pause before an iteration: longer than time-outs within a burst, shorter "
                      "than those between bursts"});
  v.duration("max_period", c.max_period,
             {.accepts = "at least `idle_gap`", .help = "longer pauses end what was learned"});
  v.value("tolerance", c.tolerance,
          {.range = reals_between(0, 0.5),
           .help = "share of the period by which an iteration may be off"});
  v.value("missed_limit", c.missed_limit,
          {.range = integers(1, 1000),
           .help = "expected bursts in a row that did not come, after which the job has ended"});
  v.value("max_jobs", c.max_jobs,
          {.range = integers(1, 256),
           .help = "told apart by the address that their DDL payload goes to; more are counted, "
                   "not learned"});
}

void check(const Checks& at, const PredictPolicy& policy) {
  at.require(policy.max_period >= policy.idle_gap, "max_period", format_duration(policy.max_period),
             "must not be shorter than idle_gap, " + format_duration(policy.idle_gap));
}

}  // namespace outrider
