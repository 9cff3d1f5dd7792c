#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/machine/machine_tree.h"

namespace outrider {

/// The NUMA nodes of a machine that are online, in ascending order; empty if it tells of none.
[[nodiscard]] std::vector<std::uint32_t> numa_nodes(const MachineTree& tree);

/// Returns the kernel's list of a node's CPUs, such as "0-3,8".
[[nodiscard]] std::string cpus_of_node(const MachineTree& tree, std::uint32_t node);

/// Returns the node that has a CPU, if the machine tells.
[[nodiscard]] std::optional<std::uint32_t> node_of_cpu(const MachineTree& tree, std::uint32_t cpu);

/// Returns whether a node has free huge pages, of any size.
[[nodiscard]] bool has_free_huge_pages(const MachineTree& tree, std::uint32_t node);

/// Returns the command that reserves huge pages at a node.
[[nodiscard]] std::string reserve_huge_pages_at(std::uint32_t node);

/// Returns a sentence for each node that DPDK needs huge pages of and that has none free, with the
/// command that reserves some. DPDK takes some memory from the main lcore's node and the
/// descriptors of a NIC from the NIC's, and from no other; without, it aborts or refuses the NIC.
/// @param main_cpu  absent: not known  @param pci_addresses  of the NICs, with their domain
[[nodiscard]] std::vector<std::string> nodes_without_huge_pages(
    const MachineTree& tree, std::optional<std::uint32_t> main_cpu,
    const std::vector<std::string>& pci_addresses);

/// A device of a program, and where the program's packets are. Absent nodes are not known, as
/// that of a virtual device.
struct DevicePlace {
  std::string name;                             ///< the user's
  std::optional<std::uint32_t> node{};          ///< of the device, and so of its descriptors
  std::optional<std::uint32_t> buffers_node{};  ///< of the memory that it receives into
};

/// Says, for each device, which of the polling CPUs and whether its packet buffers are at
/// another node than the device, what that costs and which setting mends it. Nothing if all are
/// near, or the machine has one node. @param cpus that poll each of the devices
[[nodiscard]] std::vector<std::string> numa_crossings(const MachineTree& tree,
                                                      const std::vector<DevicePlace>& devices,
                                                      const std::vector<std::uint32_t>& cpus);

}  // namespace outrider
