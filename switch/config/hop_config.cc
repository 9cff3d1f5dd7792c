#include "switch/config/hop_config.h"

namespace outrider {

void check(const Checks& at, const HopRecordConfig& hops) {
  if (hops.udp_port) at.in_range("udp_port", *hops.udp_port, 1, 65535);
  at.require(!hops.id || hops.udp_port, "id", std::to_string(hops.id.value_or(0)),
             "needs udp_port: without it nothing is recorded");
}

}  // namespace outrider
