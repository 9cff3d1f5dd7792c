#include <sstream>

#include "common/machine/huge_pages.h"
#include "common/machine/machine_check.h"
#include "common/machine/network_devices.h"
#include "common/machine/numa_nodes.h"
#include "common/machine/process_rights.h"

namespace outrider {
namespace {

constexpr std::uint64_t kLeast_mb = 64;  // a program's need besides its packet buffers

std::string megabytes(std::uint64_t kilobytes) { return std::to_string(kilobytes / 1024) + " MiB"; }

/// Returns text such as "1024 MiB free of 2048 MiB (1024 of 2 MiB)".
std::string describe(const std::vector<HugePagePool>& pools) {
  std::uint64_t free = 0, all = 0;
  std::vector<std::string> sizes;
  for (const HugePagePool& pool : pools) {
    free += pool.free * pool.page_kilobytes;
    all += pool.pages * pool.page_kilobytes;
    if (pool.pages != 0)
      sizes.push_back(std::to_string(pool.pages) + " pages of " + megabytes(pool.page_kilobytes));
  }
  return megabytes(free) + " free of " + megabytes(all) +
         (sizes.empty() ? "" : " (" + joined(sizes) + ")");
}

Finding check_huge_pages(const MachineTree& tree, bool nic) {
  constexpr const char* kCheck = "memory.huge_pages";
  const auto pools = huge_page_pools(tree.at("/sys/kernel/mm/hugepages"));
  std::uint64_t free = 0, all = 0;
  for (const HugePagePool& pool : pools) {
    free += pool.free * pool.page_kilobytes;
    all += pool.pages * pool.page_kilobytes;
  }
  if (free >= kLeast_mb * 1024)
    return {kCheck, Severity::kOk, describe(pools) + "; no mount is needed"};
  const char* effect =
      nic ? "the programs fall back to ordinary pages, which are slower and, without an IOMMU, of "
            "no "
            "use to a NIC"
          : "the programs take ordinary pages and say so: slower, and not comparable with a run "
            "that had huge ones; enough for virtual devices";
  const Severity severity = nic ? Severity::kWarn : Severity::kNote;
  if (pools.empty())
    return {kCheck, severity, "the kernel has no huge pages", effect,
            "a kernel with CONFIG_HUGETLBFS"};
  if (all == 0)
    return {kCheck, severity, "no huge page is reserved", effect, "sysctl vm.nr_hugepages=512"};
  return {kCheck, severity, describe(pools), effect,
          "end the program that holds them, or remove its files (grep -s . "
          "/proc/[0-9]*/numa_maps | grep huge says who), or reserve more: sysctl "
          "vm.nr_hugepages=" +
              std::to_string(pools.front().pages + 512)};
}

/// Returns the soft limit of locked memory [bytes], or "unlimited"; empty if unreadable.
std::string lock_limit(const MachineTree& tree) {
  std::istringstream lines(tree.text("/proc/self/limits"));
  constexpr std::string_view kName = "Max locked memory";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kName)) continue;
    const auto words = words_of(line.substr(kName.size()));
    if (!words.empty()) return words[0];
  }
  return {};
}

Finding check_lock_limit(const MachineTree& tree, bool nic) {
  constexpr const char* kCheck = "memory.lock_limit";
  const std::string limit = lock_limit(tree);
  if (limit == "unlimited") return {kCheck, Severity::kOk, "memory may be locked without limit"};
  if (has_capability(tree, Capability::kIpcLock))
    return {kCheck, Severity::kOk, "this user is exempt from the limit of locked memory"};
  const auto bytes = to_number(limit);
  if (!bytes) return {kCheck, Severity::kNote, "/proc/self/limits names no limit of locked memory"};
  const std::string cause = "this user may lock " + megabytes(*bytes / 1024);
  if (*bytes >= kLeast_mb << 20)
    return {kCheck, Severity::kOk, cause + ": enough for VFIO if a run's memory is less"};
  return {kCheck, nic ? Severity::kFail : Severity::kNote, cause,
          nic ? "VFIO maps all memory of a program for the NIC, and cannot: the device is refused"
              : "VFIO would refuse a NIC, and net_af_xdp its memory; other devices do not mind",
          "ulimit -l unlimited    # or as root a line `USER - memlock unlimited` in "
          "/etc/security/limits.conf, then log in again"};
}

}  // namespace

Findings check_memory(const MachineTree& tree) {
  const bool nic = has_bound_device(network_devices(tree));
  return {check_huge_pages(tree, nic), check_lock_limit(tree, nic)};
}

Findings check_nodes(const MachineTree& tree) {
  constexpr const char* kCheck = "numa.nodes";
  const std::vector<std::uint32_t> nodes = numa_nodes(tree);
  if (nodes.size() < 2) return {{kCheck, Severity::kOk, "one NUMA node: everything is near"}};
  std::vector<std::string> cpus;
  cpus.reserve(nodes.size());
  for (const auto node : nodes)
    cpus.push_back("node" + std::to_string(node) + " has CPUs " + cpus_of_node(tree, node));
  Findings found{{kCheck, Severity::kNote,
                  std::to_string(nodes.size()) + " NUMA nodes: " + joined(cpus),
                  "packets and tables of another node cost a crossing at every access",
                  "set `lcore` and `more_lcores` to CPUs of the node that has the NIC"}};
  for (const auto& device : network_devices(tree)) {
    const auto node = to_number(device.node);
    if (!is_userspace_driver(device.driver) || !node) continue;
    if (has_free_huge_pages(tree, static_cast<std::uint32_t>(*node))) continue;
    found.push_back(
        {"numa.huge_pages", Severity::kFail,
         "node " + device.node + ", which has " + device.address + ", has no free huge page",
         "the device cannot be opened: its descriptors have to be at its node",
         reserve_huge_pages_at(static_cast<std::uint32_t>(*node))});
  }
  return found;
}

}  // namespace outrider
