#include "trafficgen/workload/config/tensorlights_config.h"

namespace outrider::tg {

void describe(Settings& v, TensorLightsConfig& c) {
  v.choice("mode", c.mode, kTensorLightsModes,
           {.help = "connections take turns at every NIC; jobs have bands for good; every "
                    "`interval` they move on by one. At most 63 jobs with a server on one host"});
  v.duration("interval", c.interval, {.range = durations_above_zero(), .help = "of `\"rotate\"`"});
  v.value("bands", c.bands,
          {.range = integers(1, 63),
           .help = "that jobs share; what belongs to no job comes behind them. Each job and the "
                   "rest get 100 kbit/s before a band borrows"});
}

}  // namespace outrider::tg
