#include "trafficgen/streams/engine/stream_pause.h"

namespace outrider::tg {

void describe(Settings& v, PauseConfig& c) {
  v.value("device", c.device,
          {.required = true,
           .accepts = "name of a `[[device]]` with a `line_rate`",
           .help = "whose neighbour is paused"});
  v.value("priority", c.priority, {.range = integers(0, kPausePriorities - 1)});
  v.duration("start", c.start, {.range = durations_from(Duration::zero())});
  v.duration("duration", c.duration,
             {.required = true,
              .range = durations_above_zero(),
              .help = "frames are renewed for so long; the last one ends the pause"});
}

}  // namespace outrider::tg
