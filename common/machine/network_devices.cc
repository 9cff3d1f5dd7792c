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

/// VFIO opens a group only if every device in it is left alone or VFIO's. Bridges are no harm.
std::vector<std::string> kept_in_group(const MachineTree& tree, const std::string& address) {
  std::vector<std::string> kept;
  for (const auto& other : tree.names(std::string(kBus) + "/" + address + "/iommu_group/devices")) {
    const std::string driver = tree.link_name(std::string(kBus) + "/" + other + "/driver");
    const bool harmless =
        driver.empty() || driver == "vfio-pci" || driver == "pcieport" || driver == "pci-stub";
    if (other != address && !harmless) kept.push_back(other);
  }
  return kept;
}

NetworkDevice read_device(const MachineTree& tree, const std::string& address) {
  const std::string path = std::string(kBus) + "/" + address;
  NetworkDevice device{.address = address,
                       .driver = tree.link_name(path + "/driver"),
                       .node = tree.line(path + "/numa_node"),
                       .iommu_group = tree.link_name(path + "/iommu_group")};
  device.kept_in_group = kept_in_group(tree, address);
  device.virtual_function = virtual_function(tree, address);
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

std::optional<VirtualFunction> virtual_function(const MachineTree& tree,
                                                const std::string& address) {
  constexpr std::string_view kNumbered = "virtfn";
  const std::string parent = tree.link_name(std::string(kBus) + "/" + address + "/physfn");
  if (parent.empty()) return std::nullopt;
  const std::string path = std::string(kBus) + "/" + parent;
  VirtualFunction found{.parent = parent, .interface = {}, .number = {}};
  const auto interfaces = tree.names(path + "/net");
  if (!interfaces.empty()) found.interface = interfaces.front();
  for (const auto& name : tree.names(path))
    if (name.starts_with(kNumbered) && tree.link_name(path + "/" + name) == address)
      found.number = name.substr(kNumbered.size());
  return found;
}

std::string limits_of(const VirtualFunction& function) {
  return "its physical function " + function.parent +
         " decides what it receives and sends; frames to and from other MAC addresses than its "
         "own may be dropped there, and no counter here shows it";
}

std::string remedy_for(const VirtualFunction& function) {
  const std::string of = function.interface.empty() ? "PARENT" : function.interface;
  const std::string set = "ip link set " + of + " vf " + function.number;
  return set + " trust on spoofchk off    # if it still receives nothing: " + set +
         " mac ADDRESS, with the address that frames are sent to";
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
