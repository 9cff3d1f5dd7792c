#include <algorithm>

#include "common/machine/machine_check.h"

namespace outrider {
namespace {

struct Driver {
  const char* name;  ///< librte_net_NAME.so
  const char* use;
  bool needed;  ///< the programs' own runtimes and examples need it
};

constexpr Driver kDrivers[] = {
    {"vhost", "two programs on one machine", true},
    {"virtio", "two programs on one machine", true},
    {"ring", "both ends in one program", true},
    {"null", "measuring a program alone", false},
    {"memif", "other programs by shared memory", false},
    {"pcap", "frames from and to files", false},
    {"tap", "the kernel of this machine", false},
    {"af_packet", "an interface of the kernel", false},
    {"af_xdp", "an interface of the kernel, faster", false},
    {"mlx5", "NVIDIA NICs", false},
    {"e1000", "Intel 82540 to 82580, I210 and I350 (em, igb), also emulated", false},
    {"vmxnet3", "VMware's virtual NIC", false},
    {"i40e", "Intel 700 series", false},
    {"ice", "Intel 800 series", false},
    {"ixgbe", "Intel 82599 and X500 series", false},
};

Finding check_version(const MachineTree& tree, const Machine& machine) {
  constexpr const char* kCheck = "dpdk.version";
  if (machine.driver_directory.empty())
    return {kCheck, Severity::kNote, "this build does not say where DPDK keeps its drivers"};
  if (tree.exists(machine.driver_directory))
    return {kCheck, Severity::kOk,
            machine.dpdk_version + ", drivers in " + machine.driver_directory};
  return {kCheck, Severity::kFail,
          "built with DPDK " + machine.dpdk_version + ", whose drivers are not in " +
              machine.driver_directory,
          "EAL starts without any driver, or the programs miss its libraries: no device can be "
          "attached",
          "apt-get install libdpdk-dev, then build again if its version is another"};
}

}  // namespace

Findings check_dpdk(const MachineTree& tree, const Machine& machine) {
  Findings found{check_version(tree, machine)};
  if (found.front().severity != Severity::kOk) return found;
  const auto files = tree.names(machine.driver_directory);
  std::vector<std::string> present;
  bool all = true;
  for (const Driver& driver : kDrivers) {
    const std::string library = std::string("librte_net_") + driver.name + ".so";
    const bool here = std::any_of(files.begin(), files.end(), [&library](const std::string& f) {
      return f == library || f.starts_with(library + ".");
    });
    if (here) {
      present.emplace_back(driver.name);
      continue;
    }
    all = false;
    found.push_back({std::string("dpdk.driver.") + driver.name,
                     driver.needed ? Severity::kFail : Severity::kNote,
                     std::string("no driver net_") + driver.name,
                     std::string("not available: ") + driver.use,
                     "apt-get install librte-meta-allpmds"});
  }
  found.push_back({"dpdk.drivers", present.empty() ? Severity::kFail : Severity::kOk,
                   present.empty() ? "none of the drivers that the programs use"
                                   : (all ? "all that are of use: " : "") + joined(present)});
  return found;
}

}  // namespace outrider
