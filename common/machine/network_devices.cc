#include "common/machine/network_devices.h"

#include <algorithm>
#include <sstream>

namespace outrider {
namespace {

constexpr const char* kBus = "/sys/bus/pci/devices";

/// Returns whether an interface has a route, an IPv6 address that is not link-local, or a bridge
/// or bond as master: without it someone would be cut off.
bool is_used(const MachineTree& tree, const std::string& interface) {
  if (tree.exists("/sys/class/net/" + interface + "/master")) return true;
  std::istringstream routes(tree.text("/proc/net/route"));
  for (std::string line; std::getline(routes, line);)
    if (const auto words = words_of(line); !words.empty() && words[0] == interface) return true;
  constexpr const char* kLinkLocal = "20";  // scope, fourth column
  std::istringstream addresses(tree.text("/proc/net/if_inet6"));
  for (std::string line; std::getline(addresses, line);)
    if (const auto words = words_of(line);
        words.size() >= 6 && words[5] == interface && words[3] != kLinkLocal)
      return true;
  return false;
}

NetworkDevice read_device(const MachineTree& tree, const std::string& address) {
  const std::string path = std::string(kBus) + "/" + address;
  NetworkDevice device{.address = address,
                       .driver = tree.link_name(path + "/driver"),
                       .node = tree.line(path + "/numa_node"),
                       .iommu_group = tree.link_name(path + "/iommu_group")};
  device.interfaces = tree.names(path + "/net");
  for (const auto& name : tree.names(path))  // a virtio device has its interface one level down
    if (name.starts_with("virtio"))
      for (auto& interface : tree.names(path + "/" + name + "/net"))
        device.interfaces.push_back(std::move(interface));
  for (const auto& interface : device.interfaces)
    if (is_used(tree, interface)) device.used.push_back(interface);
  return device;
}

}  // namespace

std::vector<std::string> network_controllers(const std::filesystem::path& bus) {
  const MachineTree tree(bus);
  std::vector<std::string> found;
  for (const auto& address : tree.names("/"))
    if (tree.line(address + "/class").starts_with("0x02")) found.push_back(address);
  return found;
}

std::vector<NetworkDevice> network_devices(const MachineTree& tree) {
  std::vector<NetworkDevice> devices;
  for (const auto& address : network_controllers(tree.at(kBus)))
    devices.push_back(read_device(tree, address));
  return devices;
}

bool is_userspace_driver(const std::string& driver) {
  return driver == "vfio-pci" || driver == "uio_pci_generic" || driver == "igb_uio";
}

bool is_shared_driver(const std::string& driver) {
  return driver == "mlx5_core" || driver == "mlx4_core";
}

bool has_bound_device(const std::vector<NetworkDevice>& devices) {
  return std::any_of(devices.begin(), devices.end(), [](const NetworkDevice& device) {
    return is_userspace_driver(device.driver);
  });
}

}  // namespace outrider
