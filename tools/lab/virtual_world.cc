#include "tools/lab/virtual_world.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "common/config/addresses.h"

namespace outrider {

VirtualWorld::VirtualWorld(const SwitchProcessConfig& switches, const GeneratorConfig& traffic,
                           rte_mempool& pool)
    : network_(switches, loop_), generator_(traffic, loop_, pool, {.full_payload = false}) {
  join(switches, traffic);
  generator_.start(now_);
}

VirtualWorld::~VirtualWorld() { flush(); }

void VirtualWorld::join(const SwitchProcessConfig& switches, const GeneratorConfig& traffic) {
  std::vector<bool> joined(traffic.hosts.size());
  for (std::uint32_t e = 0; e < network_.edges().size(); ++e) {
    const EdgePort& edge = network_.edges()[e];
    const SwitchConfig& sw = switches.switches[edge.switch_index];
    const std::string& port = sw.ports[edge.port_index].name;
    const auto leads_to = [&](const HostConfig& h) {
      const std::uint32_t address = *parse_ipv4(h.address).value;
      return h.device == edge.device &&
             network_.route(edge.switch_index, address) == edge.port_index;
    };
    const auto host = std::ranges::find_if(traffic.hosts, leads_to);
    if (host == traffic.hosts.end())
      throw std::runtime_error("edge port " + sw.name + "." + port + " has no host behind it");
    const auto index = static_cast<std::uint32_t>(host - traffic.hosts.begin());
    network_.connect(e, generator_.host(index), 0);
    generator_.connect(index, network_.ingress(e));
    joined[index] = true;
  }
  for (std::size_t i = 0; i < joined.size(); ++i)
    if (!joined[i])
      throw std::runtime_error("host " + traffic.hosts[i].name + " has no edge port on device " +
                               traffic.hosts[i].device);
}

std::uint64_t VirtualWorld::run_until(Time end) noexcept {
  now_ = std::max(now_, end);
  return loop_.run_until(end);
}

RunResult VirtualWorld::result() const {
  RunResult r;
  r.switches = network_.report(now_);
  r.traffic = generator_.report(now_);
  return r;
}

}  // namespace outrider
