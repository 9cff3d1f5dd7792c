#include "trafficgen/hosts/pause_storm_config.h"

#include "common/config/quantities.h"

namespace outrider::tg {

void describe(Settings& v, PauseStormConfig& c) {
  v.duration("begin", c.begin,
             {.range = durations_from(Duration::zero()),
              .absent = "there is no storm",
              .help = "after the begin of the run; from then on the host's NIC sends "
                      "[pause frames](pfc.md#a-host-that-pauses-without-end) without end"});
  v.duration("end", c.end,
             {.range = durations_above_zero(),
              .accepts = "after `begin`",
              .absent = "the end of the run",
              .help = "no pause frame leaves from then on"});
  v.value("priority", c.priority, {.range = integers(0, 7), .help = "that is paused"});
}

void check(const Checks& at, const PauseStormConfig& c) {
  if (!c.end) return;
  if (at.require(c.on(), "end", format_duration(*c.end), "needs begin"))
    at.require(*c.end > *c.begin, "end", format_duration(*c.end),
               "must be after begin, " + format_duration(*c.begin));
}

}  // namespace outrider::tg
