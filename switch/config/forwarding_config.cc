#include "switch/config/forwarding_config.h"

#include <algorithm>
#include <set>
#include <variant>

#include "common/config/addresses.h"
#include "switch/config/config_toml.h"

namespace outrider::sw {
namespace {

constexpr Duration kMinAgeing = std::chrono::milliseconds(10);
constexpr Duration kMaxAgeing = std::chrono::seconds(1'000'000);  // IEEE 802.1Q, table 8-6
constexpr std::uint32_t kMaxStations = 1U << 24;

bool has_port(const SwitchConfig& sw, const std::string& name) {
  return std::ranges::find(sw.ports, name, &SwitchPortConfig::name) != sw.ports.end();
}

void check_port_name(const Checks& at, std::string_view key, const SwitchConfig& sw,
                     const std::string& port) {
  at.require(has_port(sw, port), key, Checks::quoted(port),
             "no [[switch.port]] of this switch has this name");
}

std::optional<MacAddress> check_station(const Checks& at, const std::string& text) {
  const auto mac = at.parses("mac", text, parse_mac(text));
  if (!mac) return mac;
  at.require((mac->front() & 1) == 0 && *mac != MacAddress{}, "mac", Checks::quoted(text),
             "must be a unicast address");
  return mac;
}

void check_targets(const Checks& at, const SwitchConfig& sw, const RouteConfig& route) {
  const int ways =
      int{route.port.has_value()} + int{!route.ports.empty()} + int{!route.via.empty()};
  if (ways == 0) return at.fault("port", "is required, or ports, or via");
  if (ways > 1) return at.fault("port", "exactly one of port, ports and via says where to");
  if (route.port) check_port_name(at, "port", sw, *route.port);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < route.ports.size(); ++i) {
    check_port_name(at.below("ports", i), "", sw, route.ports[i]);
    at.below("ports", i)
        .require(seen.insert(route.ports[i]).second, "", Checks::quoted(route.ports[i]),
                 "is named twice");
  }
  for (std::size_t i = 0; i < route.via.size(); ++i) {
    const bool known = std::ranges::find(sw.neighbours, route.via[i],
                                         &SwitchNeighbourConfig::address) != sw.neighbours.end();
    at.below("via", i).require(known, "", Checks::quoted(route.via[i]),
                               "no [[switch.neighbour]] of this switch has this address");
    at.below("via", i).require(seen.insert(route.via[i]).second, "", Checks::quoted(route.via[i]),
                               "is named twice");
  }
  at.require(!route.spray || seen.size() > 1, "spray", "true", "needs several ports or via");
  if (!route.flowlet_gap) return;
  const std::string gap = format_duration(*route.flowlet_gap);
  at.require(seen.size() > 1, "flowlet_gap", gap, "needs several ports or via");
  at.require(!route.spray, "flowlet_gap", gap, "excludes spray: packets that take turns are none");
}

using AnyPrefix = std::variant<Prefix, Ipv6Prefix>;

/// Prefixes, neighbours and own addresses share one table, so no two of them may be equal.
struct Destinations {
  UniqueValues<std::pair<std::uint32_t, std::uint8_t>> ipv4;
  UniqueValues<std::pair<Ipv6Address, std::uint8_t>> ipv6;

  void add(const Checks& at, std::string_view key, const std::string& text, const AnyPrefix& p,
           const std::string& holder) {
    if (const auto* v4 = std::get_if<Prefix>(&p))
      ipv4.add(at, key, {v4->address, v4->length}, Checks::quoted(text), holder);
    if (const auto* v6 = std::get_if<Ipv6Prefix>(&p))
      ipv6.add(at, key, {v6->address, v6->length}, Checks::quoted(text), holder);
  }
};

std::string nth(const char* key, std::size_t i) {
  return std::string(key) + '[' + std::to_string(i) + ']';
}

std::optional<AnyPrefix> parsed_prefix(const Checks& at, const std::string& text) {
  if (is_ipv6_text(text)) {
    const auto p = at.parses("prefix", text, parse_ipv6_prefix(text));
    return p ? std::optional<AnyPrefix>(*p) : std::nullopt;
  }
  const auto p = at.parses("prefix", text, parse_prefix(text));
  return p ? std::optional<AnyPrefix>(*p) : std::nullopt;
}

std::optional<AnyPrefix> parsed_host(const Checks& at, const std::string& text) {
  if (is_ipv6_text(text)) {
    const auto a = at.parses("address", text, parse_ipv6(text));
    return a ? std::optional<AnyPrefix>(Ipv6Prefix{*a, 128}) : std::nullopt;
  }
  const auto a = at.parses("address", text, parse_ipv4(text));
  return a ? std::optional<AnyPrefix>(Prefix{*a, 32}) : std::nullopt;
}

void check_routes(const Checks& at, const SwitchConfig& sw, Destinations& taken) {
  for (std::size_t i = 0; i < sw.routes.size(); ++i) {
    const auto route = at.below("route", i);
    const auto& text = sw.routes[i].prefix;
    check_targets(route, sw, sw.routes[i]);
    if (const auto p = parsed_prefix(route, text))
      taken.add(route, "prefix", text, *p, nth("route", i));
  }
}

void check_stations(const Checks& at, const SwitchConfig& sw) {
  UniqueValues<MacAddress> macs;
  for (std::size_t i = 0; i < sw.mac_routes.size(); ++i) {
    const auto route = at.below("mac_route", i);
    const auto& text = sw.mac_routes[i].mac;
    check_port_name(route, "port", sw, sw.mac_routes[i].port);
    if (const auto mac = check_station(route, text))
      macs.add(route, "mac", *mac, Checks::quoted(text), nth("mac_route", i));
  }
}

void check_neighbours(const Checks& at, const SwitchConfig& sw, Destinations& taken) {
  for (std::size_t i = 0; i < sw.neighbours.size(); ++i) {
    const auto one = at.below("neighbour", i);
    const auto& n = sw.neighbours[i];
    check_port_name(one, "port", sw, n.port);
    check_station(one, n.mac);
    if (const auto host = parsed_host(one, n.address))
      taken.add(one, "address", n.address, *host, nth("neighbour", i));
  }
  for (std::size_t i = 0; i < sw.addresses.size(); ++i) {
    const auto one = at.below("address", i);
    const auto& a = sw.addresses[i];
    if (a.port) check_port_name(one, "port", sw, *a.port);
    if (const auto host = one.parses("address", a.address, parse_ipv4(a.address)))
      taken.add(one, "address", a.address, Prefix{*host, 32}, nth("address", i));
  }
}

}  // namespace

void check_forwarding(const Checks& at, const SwitchConfig& sw) {
  Destinations taken;
  check_routes(at, sw, taken);
  check_stations(at, sw);
  check_neighbours(at, sw, taken);
  if (sw.mac) check_station(at, *sw.mac);
  if (!sw.mac && !sw.neighbours.empty())
    at.fault("mac", "is required with [[switch.neighbour]]: the source of what is routed");
  if (!sw.mac && !sw.addresses.empty())
    at.fault("mac", "is required with [[switch.address]]: the answer to ARP");
}

std::uint32_t table_memory_mb(const SwitchProcessConfig& config) {
  constexpr std::uint32_t kLpmMb = 66;  // tbl24 of 2^24 entries of 4 B, and its overhead
  constexpr std::uint32_t kLpmPrefixesPerMb = 900;  // a tbl8 group of 256 entries each
  constexpr std::uint32_t kAclMb = 16;              // 4096 random rules take 3.2 MB
  std::uint64_t mb = 0;
  for (const auto& sw : config.switches) {
    const std::size_t prefixes = sw.routes.size() + sw.neighbours.size() + sw.addresses.size();
    // Counted twice: a reload makes new tables while the old ones are in use.
    if (sw.route_table == RouteTableKind::kLpm) mb += 2 * (kLpmMb + prefixes / kLpmPrefixesPerMb);
    if (!sw.rules.empty()) mb += 2 * kAclMb;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(mb, 1U << 30));
}

void describe(Settings& v, RouteConfig& c) {
  v.value("prefix", c.prefix,
          {.required = true,
           .accepts = "IPv4 or IPv6 prefix without host bits, unique within the switch",
           .help = "longest match wins"});
  v.value("port", c.port,
          {.accepts = "a port of this switch", .help = "exactly one of `port`, `ports` and `via`"});
  v.value(
      "ports", c.ports,
      {.accepts = "ports of this switch, each once", .help = "equal costs: a flow keeps its port"});
  v.value("via", c.via,
          {.accepts = "addresses of `[[switch.neighbour]]`, each once",
           .help = "next hops; several are equal costs"});
  v.value(
      "spray", c.spray,
      {.accepts = "needs several `ports` or `via`", .help = "packets take turns instead of flows"});
  v.duration("flowlet_gap", c.flowlet_gap,
             {.range = durations(kMinFlowletGap, kMaxFlowletGap),
              .accepts = "needs several `ports` or `via`, without `spray`",
              .absent = "flows keep their ports",
              .help = "a silence of a flow, longer than this, after which it draws its port anew"});
}

void describe(Settings& v, MacRouteConfig& c) {
  v.value("mac", c.mac,
          {.required = true,
           .accepts = "unicast MAC address, unique within the switch",
           .help = "a station that never ages or moves, in every VLAN"});
  v.value("port", c.port, {.required = true, .accepts = "a port of this switch"});
}

void describe(Settings& v, SwitchNeighbourConfig& c) {
  v.value("address", c.address,
          {.required = true,
           .accepts = "IPv4 or IPv6 address, no route's or `address`'s",
           .help = "a host or next hop"});
  v.value("mac", c.mac,
          {.required = true,
           .accepts = "unicast MAC address",
           .help = "what packets routed to it get as destination; `mac` of the switch becomes "
                   "their source"});
  v.value("port", c.port, {.required = true, .accepts = "a port of this switch"});
}

void describe(Settings& v, SwitchAddressConfig& c) {
  v.value("address", c.address,
          {.required = true,
           .accepts = "IPv4 address, no route's or neighbour's",
           .help = "ARP for it is answered; other packets to it are dropped as `for_switch`"});
  v.value("port", c.port,
          {.accepts = "a port of this switch", .absent = "any", .help = "answer there alone"});
}

void describe(Settings& v, L2Config& c) {
  v.value("learning", c.learning, {.help = "learn stations, flood what is unknown."});
  v.duration("ageing", c.ageing,
             {.range = durations(kMinAgeing, kMaxAgeing),
              .help = "a station that is silent for so long, or up to a sixteenth and a tick of "
                      "2^20 ns more, is forgotten"});
  v.value("max_entries", c.max_entries,
          {.range = integers(1, kMaxStations, "stations"),
           .help = "14.3 B each; beyond it nothing is learned, and flooded"});
}

}  // namespace outrider::sw
