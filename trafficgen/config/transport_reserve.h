#pragma once

#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "trafficgen/config/config.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// What the connections of a valid configuration may borrow at once. A key of
/// `[transport_memory]` decides; without it: a flight and a disorder per end of
/// every connection, and segments for a full window in each of them, which with
/// one window more cannot be exhausted. Where that is much (kMaxDerived...), less
/// is reserved, which real windows do not need.
TransportMemory::Setup transport_reserve(const GeneratorConfig& config);

/// Ends of the connections that stay open side by side, in each host of a valid
/// configuration: of long flows and of requests. Others come and go, and tables grow
/// with them. @return [hosts]
std::vector<std::uint32_t> expected_connections(const GeneratorConfig& config);

/// Rules of `[transport_memory]`. @param at the place of that table
void check_transport_memory(const Checks& at, const GeneratorConfig& config);

void describe(Settings& v, TransportMemoryConfig& c);

}  // namespace outrider::tg
