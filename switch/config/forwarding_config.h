#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/core/clock.h"

namespace outrider::sw {

struct SwitchConfig;

inline constexpr Duration kMinFlowletGap = std::chrono::nanoseconds(1);
inline constexpr Duration kMaxFlowletGap = std::chrono::seconds(10);

/// Says where packets to a prefix go. Exactly one of `port`, `ports` and `via` is set.
struct RouteConfig {
  std::string prefix;  ///< "10.0.1.0/24" or "2001:db8::/32"
  std::optional<std::string> port{};
  std::vector<std::string> ports{};       ///< equal-cost ports; a flow keeps its port
  std::vector<std::string> via{};         ///< addresses of neighbours; several are equal-cost
  bool spray = false;                     ///< packets, not flows, are spread over equal costs
  std::optional<Duration> flowlet_gap{};  ///< flowlets are, see FlowletTable; absent: flows
};

/// Names a station that never ages or moves. It holds for every VLAN.
struct MacRouteConfig {
  std::string mac;  ///< "02:00:00:00:00:01"
  std::string port;
};

/// Names a next hop or host. Packets that are routed to it get its MAC address.
struct SwitchNeighbourConfig {
  std::string address;  ///< IPv4 or IPv6
  std::string mac;
  std::string port;
};

/// Gives the switch an address of its own. It answers ARP requests for it.
struct SwitchAddressConfig {
  std::string address;                ///< IPv4
  std::optional<std::string> port{};  ///< port at which requests must arrive; absent: any
};

struct L2Config {
  bool learning = false;
  Duration ageing = std::chrono::seconds(300);
  std::uint32_t max_entries = 131'072;  ///< stations
};

enum class RouteTableKind : std::uint8_t {
  kCore,  ///< our own table: small, for a few thousand prefixes
  kLpm,   ///< rte_lpm: 64 MiB, two reads per lookup however many prefixes it holds
};

inline constexpr auto kRouteTableKinds =
    choices<RouteTableKind>({{"core", RouteTableKind::kCore}, {"lpm", RouteTableKind::kLpm}});

/// Checks the settings of a switch's forwarding: routes, stations, neighbours, addresses, l2.
void check_forwarding(const Checks& at, const SwitchConfig& sw);

void describe(Settings& v, RouteConfig& c);
void describe(Settings& v, MacRouteConfig& c);
void describe(Settings& v, SwitchNeighbourConfig& c);
void describe(Settings& v, SwitchAddressConfig& c);
void describe(Settings& v, L2Config& c);

}  // namespace outrider::sw
