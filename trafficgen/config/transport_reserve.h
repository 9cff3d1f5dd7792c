#pragma once

#include <cstdint>
#include <vector>

#include "common/config/checks.h"
#include "trafficgen/config/config.h"
#include "trafficgen/transport/memory/transport_memory.h"

namespace outrider::tg {

/// Returns what the connections of a valid configuration may borrow at once. Keys of
/// `[transport_memory]` take precedence. Without them the reserve is a flight and a disorder per
/// end of every connection, and segments for a full window in each end; with one more window that
/// cannot be exhausted. If that is very large (kMaxDerived...), less is reserved, because real
/// windows need less.
TransportMemory::Setup transport_reserve(const GeneratorConfig& config);

/// Returns, for each host of a valid configuration, the number of ends of connections that stay
/// open at the same time: those of long flows and requests. Other connections come and go, and
/// tables grow with them. @return [hosts]
std::vector<std::uint32_t> expected_connections(const GeneratorConfig& config);

/// Checks `[transport_memory]`. @param at the place of that table
void check_transport_memory(const Checks& at, const GeneratorConfig& config);

void describe(Settings& v, TransportMemoryConfig& c);

}  // namespace outrider::tg
