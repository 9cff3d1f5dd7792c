#include "switch/config/hop_config.h"

namespace outrider::sw {

void check(const Checks& at, const HopRecordConfig& hops) {
  at.require(!hops.id || hops.on(), "id", std::to_string(hops.id.value_or(0)),
             "needs udp_port or roce: without them nothing is recorded");
}

void describe(Settings& v, HopRecordConfig& c) {
  v.value("udp_port", c.udp_port,
          {.range = integers(1, 65535),
           .accepts = "not that of signals",
           .absent = "none: off",
           .help = "destination of IPv4 UDP packets into which the switch writes what they met, "
                   "see [probes](streams.md#probes)"});
  v.value("id", c.id,
          {.accepts = "0 to 65535, unique",
           .absent = "place in the file, from 0",
           .help = "of the switch in its records"});
  v.value("roce", c.roce,
          {.help = "also write records into packets of RoCEv2 that carry telemetry, as "
                   "[HPCC](roce.md#hpcc) has them"});
}

}  // namespace outrider::sw
