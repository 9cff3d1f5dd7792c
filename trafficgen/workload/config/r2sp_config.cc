#include "trafficgen/workload/config/r2sp_config.h"

namespace outrider::tg {

void describe(Settings& v, R2spConfig& c) {
  v.value("slack", c.slack,
          {.range = reals_above(0, 1000),
           .absent = "1.2",
           .help = "the gap between turns is T / (`slack` x workers)"});
  v.value("warm_up_iterations", c.warm_up_iterations,
          {.range = integers(0, 1U << 20),
           .absent = "10",
           .help = "of worker 0, before anybody is held"});
  v.value("tune_batch", c.tune_batch,
          {.accepts = "needs `compute` above 0",
           .help = "workers that are held for long compute larger batches"});
  v.value("batch", c.batch,
          {.range = integers(1, 1U << 20, "samples"),
           .accepts = "required with `tune_batch` without a learner, refused else",
           .absent = "the learner's",
           .help = "of every worker, before tuning"});
}

}  // namespace outrider::tg
