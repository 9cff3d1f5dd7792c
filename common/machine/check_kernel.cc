#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "common/machine/machine_check.h"
#include "common/machine/process_rights.h"

namespace outrider {
namespace {

constexpr const char* kRights = "run as root";

/// Returns whether a line of `path` has `word` in column `column`.
bool lists(const MachineTree& tree, std::string_view path, std::string_view word,
           std::size_t column) {
  std::istringstream lines(tree.text(path));
  for (std::string line; std::getline(lines, line);)
    if (const auto words = words_of(line); words.size() > column && words[column] == word)
      return true;
  return false;
}

/// Returns the version, {6, 18} of "6.18.44-x"; {0, 0} if the text is no version.
std::pair<unsigned, unsigned> kernel_version(const MachineTree& tree) {
  const std::string text = tree.line("/proc/sys/kernel/osrelease");
  unsigned major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, major);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') return {0, 0};
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc{}) return {0, 0};
  return {major, minor};
}

Finding check_tap(const MachineTree& tree) {
  constexpr const char* kCheck = "kernel.tap";
  if (!tree.exists("/dev/net/tun"))
    return {kCheck, Severity::kNote, "/dev/net/tun is absent", "net_tap cannot be used",
            tree.exists("/proc/modules") ? "modprobe tun" : "boot a kernel with CONFIG_TUN"};
  if (::access(tree.at("/dev/net/tun").c_str(), R_OK | W_OK) != 0)
    return {kCheck, Severity::kNote, "/dev/net/tun may not be opened by this user",
            "net_tap cannot be used", "chmod 666 /dev/net/tun"};
  if (!has_capability(tree, Capability::kNetAdmin))
    return {kCheck, Severity::kNote, "this user lacks CAP_NET_ADMIN", "net_tap is refused",
            kRights};
  return {kCheck, Severity::kOk, "net_tap can be used"};
}

Finding check_af_packet(const MachineTree& tree) {
  constexpr const char* kCheck = "kernel.af_packet";
  if (!lists(tree, "/proc/net/protocols", "PACKET", 0))
    return {
        kCheck, Severity::kNote, "the kernel has no packet sockets", "net_af_packet cannot be used",
        tree.exists("/proc/modules") ? "modprobe af_packet" : "boot a kernel with CONFIG_PACKET"};
  if (!has_capability(tree, Capability::kNetRaw))
    return {kCheck, Severity::kNote, "this user lacks CAP_NET_RAW", "net_af_packet is refused",
            kRights};
  return {kCheck, Severity::kOk, "net_af_packet can be used"};
}

Finding check_af_xdp(const MachineTree& tree, const Machine& machine) {
  constexpr const char* kCheck = "kernel.af_xdp";
  constexpr const char* kEffect = "net_af_xdp cannot be used; net_af_packet can, slower";
  const auto version = kernel_version(tree);
  if (version == std::pair{0U, 0U})
    return {kCheck, Severity::kNote, "/proc/sys/kernel/osrelease names no version"};
  if (version < std::pair{5U, 4U})
    return {kCheck, Severity::kNote,
            "kernel " + tree.line("/proc/sys/kernel/osrelease") + " is older than 5.4", kEffect,
            "a newer kernel"};
  if (!lists(tree, "/proc/net/protocols", "XDP", 0))
    return {kCheck, Severity::kNote, "the kernel has no XDP sockets", kEffect,
            "boot a kernel with CONFIG_XDP_SOCKETS"};
  const auto files = tree.names(machine.driver_directory);
  if (std::none_of(files.begin(), files.end(),
                   [](const auto& f) { return f.starts_with("librte_net_af_xdp.so"); }))
    return {kCheck, Severity::kNote, "DPDK's driver net_af_xdp is not installed", kEffect,
            "apt-get install librte-meta-allpmds"};
  const auto may = [&tree](Capability right) { return has_capability(tree, right); };
  if (!may(Capability::kNetAdmin) || !may(Capability::kNetRaw) ||
      (!may(Capability::kBpf) && !may(Capability::kSysAdmin)))
    return {kCheck, Severity::kNote, "this user lacks CAP_NET_ADMIN, CAP_NET_RAW or CAP_BPF",
            "net_af_xdp is refused", kRights};
  if (tree.line("/proc/sys/net/core/bpf_jit_enable") == "0")
    return {kCheck, Severity::kNote, "net_af_xdp can be used, and BPF is interpreted",
            "every packet of an XDP socket costs more", "sysctl net.core.bpf_jit_enable=1"};
  return {kCheck, Severity::kOk, "net_af_xdp can be used"};
}

Finding check_types(const MachineTree& tree) {
  constexpr const char* kCheck = "kernel.btf";
  if (tree.exists("/sys/kernel/btf/vmlinux"))
    return {kCheck, Severity::kOk, "BPF programs that follow the kernel's types can be loaded"};
  return {kCheck, Severity::kNote, "/sys/kernel/btf/vmlinux is absent",
          "none on the switch, the generator and the lab; a BPF agent on a host cannot be loaded",
          "boot a kernel with CONFIG_DEBUG_INFO_BTF"};
}

Finding check_cgroups(const MachineTree& tree) {
  constexpr const char* kCheck = "kernel.cgroup2";
  std::istringstream mounts(tree.text("/proc/mounts"));
  for (std::string line; std::getline(mounts, line);)
    if (const auto words = words_of(line); words.size() > 2 && words[2] == "cgroup2")
      return {kCheck, Severity::kOk, "mounted at " + words[1]};
  return {kCheck, Severity::kNote, "no cgroup2 is mounted",
          "none on the switch, the generator and the lab; a BPF agent on a host has nothing to "
          "attach to",
          "mount -t cgroup2 none /sys/fs/cgroup"};
}

}  // namespace

Findings check_kernel(const MachineTree& tree, const Machine& machine) {
  return {check_tap(tree), check_af_packet(tree), check_af_xdp(tree, machine), check_types(tree),
          check_cgroups(tree)};
}

}  // namespace outrider
