#include "common/machine/numa_nodes.h"

#include <algorithm>
#include <map>

#include "common/machine/huge_pages.h"

namespace outrider {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node";

std::string named(std::uint32_t node) { return "NUMA node " + std::to_string(node); }
std::string pages_of(std::uint32_t node) {
  return std::string(kNodes) + "/node" + std::to_string(node) + "/hugepages";
}

}  // namespace

std::vector<std::uint32_t> numa_nodes(const MachineTree& tree) {
  constexpr std::string_view kPrefix = "node";
  std::vector<std::uint32_t> nodes;
  for (const auto& name : tree.names(kNodes)) {
    if (!name.starts_with(kPrefix)) continue;
    const auto number = to_number(std::string_view(name).substr(kPrefix.size()));
    if (number) nodes.push_back(static_cast<std::uint32_t>(*number));
  }
  std::ranges::sort(nodes);
  return nodes;
}

std::string cpus_of_node(const MachineTree& tree, std::uint32_t node) {
  return tree.line(std::string(kNodes) + "/node" + std::to_string(node) + "/cpulist");
}

std::optional<std::uint32_t> node_of_cpu(const MachineTree& tree, std::uint32_t cpu) {
  for (const std::uint32_t node : numa_nodes(tree)) {
    const auto cpus = cpu_list(cpus_of_node(tree, node));
    if (cpus && std::ranges::find(*cpus, cpu) != cpus->end()) return node;
  }
  return {};
}

bool has_free_huge_pages(const MachineTree& tree, std::uint32_t node) {
  return std::ranges::any_of(huge_page_pools(tree.at(pages_of(node))),
                             [](const HugePagePool& pool) { return pool.free != 0; });
}

std::string reserve_huge_pages_at(std::uint32_t node) {
  return "echo 512 > " + pages_of(node) + "/hugepages-2048kB/nr_hugepages";
}

std::vector<std::string> nodes_without_huge_pages(const MachineTree& tree,
                                                  std::optional<std::uint32_t> main_cpu,
                                                  const std::vector<std::string>& pci_addresses) {
  std::map<std::uint32_t, std::vector<std::string>> needed;
  if (main_cpu)
    if (const auto node = node_of_cpu(tree, *main_cpu))
      needed[*node].push_back("CPU " + std::to_string(*main_cpu));
  for (const std::string& address : pci_addresses)
    if (const auto node = tree.number("/sys/bus/pci/devices/" + address + "/numa_node"))
      needed[static_cast<std::uint32_t>(*node)].push_back(address);
  std::vector<std::string> found;
  for (const auto& [node, users] : needed) {
    if (!tree.exists(pages_of(node)) || has_free_huge_pages(tree, node)) continue;
    found.push_back(named(node) + ", which has " + joined(users) +
                    ", has no free huge page. Reserve some: " + reserve_huge_pages_at(node));
  }
  return found;
}

std::vector<std::string> numa_crossings(const MachineTree& tree,
                                        const std::vector<DevicePlace>& devices,
                                        const std::vector<std::uint32_t>& cpus) {
  std::vector<std::string> found;
  for (const DevicePlace& device : devices) {
    if (!device.node) continue;
    std::vector<std::string> elsewhere;
    for (const std::uint32_t cpu : cpus) {
      const auto node = node_of_cpu(tree, cpu);
      if (node && *node != *device.node)
        elsewhere.push_back("CPU " + std::to_string(cpu) + " at " + named(*node));
    }
    const std::string place = "device " + device.name + " is at " + named(*device.node);
    if (!elsewhere.empty())
      found.push_back(place + " and polled from " + joined(elsewhere) +
                      ": its packets cross between the nodes. Take `lcore` and `more_lcores` from "
                      "its node's CPUs: " +
                      cpus_of_node(tree, *device.node));
    else if (device.buffers_node && *device.buffers_node != *device.node)
      found.push_back(place + " and its packet buffers are at " + named(*device.buffers_node) +
                      ": its packets cross between the nodes. Reserve more huge pages at its node: "
                      "echo 512 > " +
                      kNodes + "/node" + std::to_string(*device.node) +
                      "/hugepages/hugepages-2048kB/nr_hugepages");
  }
  return found;
}

}  // namespace outrider
