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

/// Where packets to a prefix go: exactly one of `port`, `ports` and `via`.
struct RouteConfig {
  std::string prefix;  ///< "10.0.1.0/24" or "2001:db8::/32"
  std::optional<std::string> port{};
  std::vector<std::string> ports{};  ///< equal-cost: a flow keeps its port
  std::vector<std::string> via{};    ///< addresses of neighbours; several are equal-cost
  bool spray = false;                ///< several: packets take turns instead of flows
};

/// A station that never ages or moves, in every VLAN.
struct MacRouteConfig {
  std::string mac;  ///< "02:00:00:00:00:01"
  std::string port;
};

/// A next hop or host whose MAC address routed packets get.
struct SwitchNeighbourConfig {
  std::string address;  ///< IPv4 or IPv6
  std::string mac;
  std::string port;
};

/// An address of the switch itself: ARP requests for it are answered.
struct SwitchAddressConfig {
  std::string address;                ///< IPv4
  std::optional<std::string> port{};  ///< that the requests must come in by; absent: any
};

struct L2Config {
  bool learning = false;
  Duration ageing = std::chrono::seconds(300);
  std::uint32_t max_entries = 131'072;  ///< stations
};

enum class RouteTableKind : std::uint8_t {
  kCore,  ///< our own: small, for some thousand prefixes
  kLpm,   ///< rte_lpm: 64 MiB, two reads a lookup whatever the table holds
};

inline constexpr auto kRouteTableKinds =
    choices<RouteTableKind>({{"core", RouteTableKind::kCore}, {"lpm", RouteTableKind::kLpm}});

/// The rules of a switch's forwarding: routes, stations, neighbours, addresses, l2.
void check_forwarding(const Checks& at, const SwitchConfig& sw);

void describe(Settings& v, RouteConfig& c);
void describe(Settings& v, MacRouteConfig& c);
void describe(Settings& v, SwitchNeighbourConfig& c);
void describe(Settings& v, SwitchAddressConfig& c);
void describe(Settings& v, L2Config& c);

}  // namespace outrider::sw
