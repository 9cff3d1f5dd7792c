#include "tools/lab/simulation/edge_hosts.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "common/config/addresses.h"

namespace outrider::lab {

std::vector<std::uint32_t> hosts_behind(std::span<const sw::EdgePort> edges,
                                        const tg::GeneratorConfig& traffic, const PortTo& port_to) {
  struct Candidate {
    std::uint32_t host = 0;
    std::uint32_t address = 0;
  };
  std::map<std::string, std::vector<Candidate>> of_device;
  for (std::uint32_t h = 0; h < traffic.hosts.size(); ++h)
    of_device[traffic.hosts[h].device].push_back({h, *parse_ipv4(traffic.hosts[h].address).value});
  std::vector<std::uint32_t> behind;
  for (const sw::EdgePort& edge : edges) {
    const auto& candidates = of_device[edge.device];
    const auto found = std::ranges::find_if(candidates, [&](const Candidate& c) {
      return port_to(edge.switch_index, c.address) == edge.port_index;
    });
    behind.push_back(found == candidates.end() ? kNoHost : found->host);
  }
  return behind;
}

void check_cabled(const sw::SwitchProcessConfig& switches, const tg::GeneratorConfig& traffic,
                  std::span<const sw::EdgePort> edges, std::span<const std::uint32_t> behind,
                  bool alone) {
  std::vector<bool> cabled(traffic.hosts.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (behind[e] != kNoHost) {
      cabled[behind[e]] = true;
      continue;
    }
    if (alone) continue;
    const sw::SwitchConfig& sw = switches.switches[edges[e].switch_index];
    throw std::runtime_error("edge port " + sw.name + "." + sw.ports[edges[e].port_index].name +
                             " has no host behind it");
  }
  for (std::size_t h = 0; h < cabled.size(); ++h)
    if (!cabled[h])
      throw std::runtime_error("host " + traffic.hosts[h].name + " has no edge port on device " +
                               traffic.hosts[h].device);
}

}  // namespace outrider::lab
