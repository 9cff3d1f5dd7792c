#include <unistd.h>

#include <algorithm>

#include "common/machine/machine_check.h"
#include "common/machine/network_devices.h"

namespace outrider {
namespace {

/// The conditions for a program's access to a NIC.
struct NicAccess {
  bool iommu = false;
  bool vfio = false;           ///< the driver vfio-pci exists
  bool without_iommu = false;  ///< VFIO's unsafe mode is on
  bool modules = false;        ///< the kernel can load drivers
  bool virtual_machine = false;
  bool bound = false;  ///< a device was given to a process
};

NicAccess read_access(const MachineTree& tree, const std::vector<NetworkDevice>& devices) {
  const auto flags = words_of(tree.field("/proc/cpuinfo", "flags"));
  const std::string unsafe = tree.line("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
  return {.iommu = !tree.names("/sys/class/iommu").empty(),
          .vfio = tree.exists("/sys/bus/pci/drivers/vfio-pci"),
          .without_iommu = unsafe == "Y" || unsafe == "1",
          .modules = tree.exists("/proc/modules"),
          .virtual_machine = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end(),
          .bound = has_bound_device(devices)};
}

std::string boot_words(const MachineTree& tree) {
  return tree.field("/proc/cpuinfo", "vendor_id") == "GenuineIntel" ? "intel_iommu=on iommu=pt"
                                                                    : "iommu=pt";
}

Finding check_iommu(const MachineTree& tree, const NicAccess& access) {
  constexpr const char* kCheck = "devices.iommu";
  const auto words = words_of(tree.line("/proc/cmdline"));
  const auto asked = [&words](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (access.iommu && asked("iommu=pt"))
    return {kCheck, Severity::kOk, "on, and the kernel's own devices pass it by (iommu=pt)"};
  if (access.iommu)
    return {kCheck, Severity::kNote, "on, for the kernel's own devices as well",
            "none on a NIC that is bound to vfio-pci; the kernel's devices are slower",
            "boot with iommu=pt"};
  const bool refused = asked("intel_iommu=on") || asked("amd_iommu=on");
  std::string remedy =
      access.virtual_machine ? "give the virtual machine one (QEMU: -device intel-iommu), or use "
                               "VFIO without it at your own risk"
      : refused              ? "turn VT-d or AMD-Vi on in the BIOS"
                : "boot with " + boot_words(tree) + ", with VT-d or AMD-Vi turned on in the BIOS";
  return {kCheck, Severity::kNote,
          refused ? "asked for at boot, and not there" : "the kernel has none",
          "none on virtual devices; a NIC can only be used in VFIO's no-IOMMU mode, where it may "
          "write anywhere in memory",
          std::move(remedy)};
}

Finding check_vfio(const NicAccess& access) {
  constexpr const char* kCheck = "devices.vfio";
  if (!access.vfio)
    return {kCheck, Severity::kNote,
            access.modules ? "the driver vfio-pci is not loaded"
                           : "the kernel has no vfio-pci and loads no modules",
            "none on virtual devices; a NIC cannot be given to the programs, but for mlx4 and "
            "mlx5",
            access.modules ? "modprobe vfio-pci" : "boot a kernel with CONFIG_VFIO_PCI"};
  if (access.iommu) return {kCheck, Severity::kOk, "vfio-pci is loaded"};
  if (access.without_iommu)
    return {kCheck, Severity::kNote, "vfio-pci is loaded, in no-IOMMU mode",
            "a faulty NIC or program can overwrite any memory; results are not affected"};
  return {kCheck, access.bound ? Severity::kFail : Severity::kNote,
          "vfio-pci is loaded, and there is no IOMMU", "a NIC bound to it cannot be opened",
          "echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode    # unsafe; or turn "
          "the IOMMU on"};
}

Finding shared_group(const NetworkDevice& device, const std::string& check,
                     const std::string& cause) {
  std::string bind = "dpdk-devbind.py --bind=vfio-pci";
  for (const auto& other : device.kept_in_group) bind += " " + other;
  return {check, Severity::kFail,
          cause + ", but the kernel's drivers have " + joined(device.kept_in_group) +
              " of the same IOMMU group " + device.iommu_group,
          "EAL cannot open the device: a group is given to a process as a whole",
          bind + "    # not if the machine needs them: then use a NIC with a group of its own"};
}

/// Checks whether this process may use a device that was given to a process.
Finding check_bound(const MachineTree& tree, const NetworkDevice& device, const NicAccess& access) {
  const std::string check = "devices." + device.address;
  const std::string cause = "bound to " + device.driver + ", node " + device.node;
  if (device.driver != "vfio-pci") return {check, Severity::kOk, cause};
  const std::string group = device.iommu_group;
  const std::string file = "/dev/vfio/" + (access.iommu ? "" : std::string("noiommu-")) + group;
  if (group.empty() || !tree.exists(file))
    return {check, Severity::kFail,
            cause + ", but " + (group.empty() ? "without a group" : file + " is absent"),
            "EAL cannot open the device",
            access.iommu ? "dpdk-devbind.py --bind=vfio-pci " + device.address
                         : "turn the IOMMU or VFIO's no-IOMMU mode on, then bind it again: "
                           "dpdk-devbind.py --bind=vfio-pci " +
                               device.address};
  if (::access(tree.at(file).c_str(), R_OK | W_OK) != 0)
    return {check, Severity::kFail, cause + ", but " + file + " belongs to another user",
            "EAL cannot open the device", "sudo chown $USER " + file};
  if (!device.kept_in_group.empty() && access.iommu) return shared_group(device, check, cause);
  if (device.virtual_function)
    return {check, Severity::kNote, cause + ", ready; a virtual function",
            limits_of(*device.virtual_function), remedy_for(*device.virtual_function)};
  return {check, Severity::kOk, cause + ", ready"};
}

Finding check_device(const MachineTree& tree, const NetworkDevice& device,
                     const NicAccess& access) {
  if (is_userspace_driver(device.driver)) return check_bound(tree, device, access);
  const std::string check = "devices." + device.address;
  const std::string bind = "dpdk-devbind.py --bind=vfio-pci " + device.address;
  const std::string where =
      device.node.empty() || device.node == "-1" ? "" : ", node " + device.node;
  if (device.driver.empty())
    return {check, Severity::kNote, "no driver is bound to it" + where, "no program can use it",
            bind};
  const std::string cause =
      device.driver +
      (device.interfaces.empty() ? "" : ", interface " + joined(device.interfaces)) + where;
  if (is_shared_driver(device.driver))
    return {check, Severity::kOk, cause + ": stays with this driver, DPDK works beside it"};
  if (!device.used.empty())
    return {check, Severity::kNote, cause + ": in use by the machine",
            "binding it to vfio-pci would cut off whoever is connected through " +
                joined(device.used) + ": do not"};
  return {check, Severity::kNote, cause + ": no address, route or bridge uses it",
          "the kernel owns it; the programs can reach it by net_af_packet or net_af_xdp, or, "
          "faster, have it for themselves",
          access.vfio      ? bind
          : access.modules ? "modprobe vfio-pci && " + bind
                           : ""};
}

}  // namespace

Findings check_devices(const MachineTree& tree) {
  const auto devices = network_devices(tree);
  const NicAccess access = read_access(tree, devices);
  Findings found{check_iommu(tree, access), check_vfio(access)};
  for (const auto& device : devices) found.push_back(check_device(tree, device, access));
  if (devices.empty())
    found.push_back({"devices.pci", Severity::kNote, "no network controller on PCI",
                     "virtual devices only: vhost, memif, rings, taps, af_packet"});
  return found;
}

}  // namespace outrider
