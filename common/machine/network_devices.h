#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/machine/machine_tree.h"

namespace outrider {

/// A network controller on PCI.
struct NetworkDevice {
  std::string address;                    ///< "0000:3b:00.0"
  std::string driver;                     ///< the kernel's; empty: none is bound
  std::string node;                       ///< NUMA node as the kernel says it, "-1": only one
  std::string iommu_group;                ///< empty: none
  std::vector<std::string> interfaces{};  ///< of the kernel's network stack
  std::vector<std::string> used{};        ///< those of them that the machine communicates through
};

/// Addresses of the network controllers (class 0x02), sorted.
/// @param bus  directory with one entry per device
[[nodiscard]] std::vector<std::string> network_controllers(const std::filesystem::path& bus);

[[nodiscard]] std::vector<NetworkDevice> network_devices(const MachineTree& tree);

/// Drivers that leave a device to a process: vfio-pci and the two of UIO.
[[nodiscard]] bool is_userspace_driver(const std::string& driver);
/// mlx4 and mlx5: DPDK works beside the kernel's driver.
[[nodiscard]] bool is_shared_driver(const std::string& driver);
/// Is a device meant to be polled by a program of ours?
[[nodiscard]] bool has_bound_device(const std::vector<NetworkDevice>& devices);

}  // namespace outrider
