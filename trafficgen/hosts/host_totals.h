#pragma once

#include "trafficgen/hosts/host_counters.h"

namespace outrider::tg {

/// Adds every count of a host. An lcore calls it for each of its hosts, ten times a second.
void add(HostCounters& to, const HostCounters& more) noexcept;

}  // namespace outrider::tg
