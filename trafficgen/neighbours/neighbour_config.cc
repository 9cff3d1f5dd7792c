#include "trafficgen/neighbours/neighbour_config.h"

#include <utility>

namespace outrider::tg {

void check(const Checks& at, const ArpConfig& arp) {
  if (!arp.arp) {
    if (arp.subnet) at.fault("subnet", Checks::quoted(*arp.subnet), "needs arp = true");
    if (arp.gateway) at.fault("gateway", Checks::quoted(*arp.gateway), "needs arp = true");
    return;
  }
  std::optional<Prefix> subnet;
  if (arp.subnet) subnet = at.parses("subnet", *arp.subnet, parse_prefix(*arp.subnet));
  if (!arp.gateway) return;
  const auto gateway = at.parses("gateway", *arp.gateway, parse_ipv4(*arp.gateway));
  if (!arp.subnet)
    at.fault("subnet", "is required with gateway: it says what does not go through it");
  else if (gateway && subnet)
    at.require(subnet->contains(*gateway), "gateway", Checks::quoted(*arp.gateway),
               "must be within subnet, " + *arp.subnet);
}

void check_neighbours(const Checks& root, const std::vector<NeighbourConfig>& neighbours,
                      const std::set<std::string>& devices, const std::set<std::uint32_t>& hosts) {
  UniqueValues<std::pair<std::string, std::uint32_t>> addresses;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto at = root.below("neighbour", i);
    const auto& n = neighbours[i];
    at.require(devices.contains(n.device), "device", Checks::quoted(n.device),
               "no [[device]] has this name");
    if (const auto mac = at.parses("mac", n.mac, parse_mac(n.mac)))
      at.require((mac->front() & 1) == 0 && *mac != MacAddress{}, "mac", Checks::quoted(n.mac),
                 "must be a unicast address");
    const auto shown = Checks::quoted(n.address);
    const auto address = at.parses("address", n.address, parse_ipv4(n.address));
    if (!address) continue;
    at.require(!hosts.contains(*address), "address", shown,
               "is that of a [[host]], whose MAC follows from it");
    addresses.add(at, "address", {n.device, *address}, shown,
                  "neighbour[" + std::to_string(i) + "]");
  }
}

void describe(Settings& v, ArpConfig& c) {
  v.value(
      "arp", c.arp,
      {.help =
           "ask for MAC addresses and answer for the hosts of this device; answer their pings"});
  v.value("subnet", c.subnet,
          {.accepts = "IPv4 prefix; with `arp`",
           .absent = "none",
           .help = "what is asked for directly; without it everything is"});
  v.value("gateway", c.gateway,
          {.accepts = "address within `subnet`, which it needs",
           .absent = "none",
           .help = "next hop of what is outside"});
}

void describe(Settings& v, NeighbourConfig& c) {
  v.value("device", c.device, {.required = true, .accepts = "name of a `[[device]]`"});
  v.value("address", c.address,
          {.required = true, .accepts = "IPv4, of no `[[host]]`, unique on the device"});
  v.value("mac", c.mac,
          {.required = true, .accepts = "unicast MAC address", .help = "never asked for"});
}

}  // namespace outrider::tg
