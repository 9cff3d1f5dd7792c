#include "trafficgen/workload/config/collective_config.h"

namespace outrider::tg {

void describe(Settings& v, AllToAllConfig& c) {
  v.value("skew", c.skew,
          {.range = reals(0, 10),
           .accepts = "above 0 needs `all_to_all`",
           .help = "worker k (from 0) gets 1 / (k + 1)^`skew` of everybody's data, in proportion"});
}

void describe(Settings& v, PipelineConfig& c) {
  v.value("micro_batches", c.micro_batches,
          {.range = integers(1, 1024),
           .accepts = "needs `pipeline`",
           .absent = "4 for each worker",
           .help = "of an iteration"});
}

}  // namespace outrider::tg
