#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/machine_tree.h"

namespace outrider {

/// Tells to which physical function a virtual function (SR-IOV) belongs, and which one it is.
struct VirtualFunction {
  std::string parent;     ///< PCI address of the physical function
  std::string interface;  ///< the parent's in the kernel; empty: another program has the parent
  std::string number;     ///< which of the parent's virtual functions it is, "0"
};

/// A network controller on the PCI bus.
struct NetworkDevice {
  std::string address;                    ///< "0000:3b:00.0"
  std::string driver;                     ///< the kernel's driver; empty: none is bound
  std::string node;                       ///< NUMA node by the kernel, "-1": there is only one
  std::string iommu_group;                ///< empty: none
  std::vector<std::string> interfaces{};  ///< of the kernel's network stack
  std::vector<std::string> used{};        ///< those through which the machine communicates
  /// Addresses of the other devices of its IOMMU group that a driver of the kernel has.
  std::vector<std::string> kept_in_group{};
  std::optional<VirtualFunction> virtual_function{};  ///< absent: it is none
};

/// Returns a PCI address with its domain: "3b:00.0" is in domain 0.
[[nodiscard]] inline std::string with_pci_domain(const std::string& address) {
  constexpr std::size_t kWithoutDomain = std::string_view("3b:00.0").size();
  return address.size() == kWithoutDomain ? "0000:" + address : address;
}

/// Returns the addresses of the network controllers (class 0x02), sorted.
/// @param bus  directory with one entry per device
[[nodiscard]] std::vector<std::string> network_controllers(const std::filesystem::path& bus);

[[nodiscard]] std::vector<NetworkDevice> network_devices(const MachineTree& tree);

/// @param address  PCI address with domain. Returns nothing for what is no virtual function.
[[nodiscard]] std::optional<VirtualFunction> virtual_function(const MachineTree& tree,
                                                              const std::string& address);
/// Returns what limits a virtual function: the effect on a program, and the remedy.
[[nodiscard]] std::string limits_of(const VirtualFunction& function);
[[nodiscard]] std::string remedy_for(const VirtualFunction& function);

/// Returns whether a driver leaves a device to a process: vfio-pci and the two of UIO.
[[nodiscard]] bool is_userspace_driver(const std::string& driver);
/// Returns whether DPDK works together with the kernel's driver: mlx4 and mlx5.
[[nodiscard]] bool is_shared_driver(const std::string& driver);
/// Returns whether a device was prepared to be polled by a program of this project.
[[nodiscard]] bool has_bound_device(const std::vector<NetworkDevice>& devices);

}  // namespace outrider
