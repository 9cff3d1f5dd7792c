#include "tools/lab/experiment/program_settings.h"

namespace outrider::lab {

void describe(Settings& v, QueueRole& c) { v.share("floor", c.floor, {.range = reals(0, 1)}); }

void describe(Settings& v, BackgroundFlows& c) {
  constexpr double kMostOffered = 2;
  v.value("flows_per_pair", c.flows_per_pair);
  v.share("load", c.load, {.range = reals(0, kMostOffered)});
  v.value("sizes", c.sizes);
  v.value("list", c.list);
  v.value("capture", c.capture);
  v.choice("protocol", c.protocol, kLabBackgroundProtocols);
  v.choice("queue", c.queue, kLabRoceQueues);
  v.value("queue_pairs", c.queue_pairs);
  v.duration("start_spread", c.start_spread, {.range = durations_from(Duration::zero())});
}

void describe(Settings& v, TrafficSettings& c) {
  v.share("send_jitter", c.send_jitter, {.range = reals(0, 1)});
  v.value("attribution", c.attribution);
  v.duration("connection_sample_period", c.connection_sample_period);
}

}  // namespace outrider::lab
