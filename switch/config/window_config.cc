#include "switch/config/window_config.h"

namespace outrider {

void describe(Settings& v, WindowPolicy& c) {
  v.choice("rule", c.rule, kWindowRules,
           {.help = "held flows have in flight what bursts leave of path and threshold, or the "
                    "floor alone"});
  v.share("floor", c.floor,
          {.range = reals_below(0, 1),
           .help = "share of the drain rate that held background keeps; two segments per flow in "
                   "any case"});
  v.value("gain", c.gain,
          {.range = reals_above(0, 100),
           .help = "`complement`: bytes of background that a byte of a burst in flight displaces"});
  v.value("standing_clamp", c.standing_clamp,
          {.range = reals(1, 100),
           .help = "window of a flow that is not held, over its largest flight of the last 8 to "
                   "16 RTT"});
  v.value("release_rtts", c.release_rtts,
          {.range = reals(0, 1000), .help = "RTTs over which held windows open again"});
  v.value("spare_marks", c.spare_marks,
          {.help = "held flows are not marked, nor for 2 RTT after their release"});
  v.duration("base_rtt", c.base_rtt,
             {.range = durations_from(Duration::zero()),
              .help = "RTT of all flows; 0: measured for each"});
  v.value("max_flows", c.max_flows,
          {.range = integers(1, 1U << 20),
           .help = "flows that are told apart; more are left alone and counted"});
}

}  // namespace outrider
