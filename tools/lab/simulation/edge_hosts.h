#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "switch/config/config.h"
#include "switch/runtime/network.h"
#include "trafficgen/config/config.h"

namespace outrider::lab {

/// No host is behind an edge port.
inline constexpr std::uint32_t kNoHost = ~std::uint32_t{0};

/// Returns the port by which a switch sends packets to an address.
using PortTo =
    std::function<std::optional<std::uint32_t>(std::uint32_t switch_index, std::uint32_t address)>;

/// Finds the host behind each edge port: the first one of its device to which the switch's route
/// leads by that port. @return [edges] position of the host, or kNoHost
[[nodiscard]] std::vector<std::uint32_t> hosts_behind(std::span<const sw::EdgePort> edges,
                                                      const tg::GeneratorConfig& traffic,
                                                      const PortTo& port_to);

/// Requires that every host is behind an edge port.
/// @param alone  whether an edge port may have no host, as with streams
/// @throws std::runtime_error naming the port or host that has no counterpart
void check_cabled(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                  std::span<const sw::EdgePort> edges, std::span<const std::uint32_t> behind,
                  bool alone);

}  // namespace outrider::lab
