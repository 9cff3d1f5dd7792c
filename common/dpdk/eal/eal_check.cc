#include "common/dpdk/eal/eal_check.h"

#include <net/if.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/core/shortened.h"
#include "common/dpdk/eal/error.h"
#include "common/machine/free_memory.h"
#include "common/machine/huge_pages.h"
#include "common/machine/machine_tree.h"
#include "common/machine/network_devices.h"

namespace outrider {
namespace {

namespace fs = std::filesystem;

std::string usable_cpus(const cpu_set_t& allowed) {
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(cpu);
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &allowed)) ++last;
    if (last > cpu + 1) text += "-" + std::to_string(last);
    if (last == cpu + 1) text += ", " + std::to_string(last);
    cpu = last;
  }
  return text;
}

/// Returns whether this process may move to a CPU. It does not inherit CPUs that the kernel
/// isolates (isolcpus=), but may move there unless a cpuset forbids it. Leaves the calling
/// thread where it was.
bool may_move_to(std::uint32_t cpu, const cpu_set_t& inherited) {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(cpu, &wanted);
  if (sched_setaffinity(0, sizeof(wanted), &wanted) != 0) return false;
  return sched_setaffinity(0, sizeof(inherited), &inherited) == 0;
}

/// Returns whether a process accepts connections at `path`.
bool has_listener(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  // EAGAIN: a process listens, and its queue of connections is full
  const bool alive =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN || errno == EACCES;
  close(fd);
  return alive;
}

bool is_vhost(const std::string& device) { return device.starts_with("net_vhost"); }

/// Returns whether the driver is `net_NAME`, or `eth_NAME` as DPDK also calls it.
bool is_driver(const std::string& device, std::string_view name) {
  return std::string_view(device).substr(0, 4).ends_with('_') &&
         std::string_view(device).substr(std::min<std::size_t>(4, device.size())).starts_with(name);
}

/// Calls `use` with the values of all arguments "key=value" of a device.
template <class Use>
void for_each_value(const std::string& device, std::string_view key, Use&& use) {
  const std::string wanted = ',' + std::string(key) + '=';
  for (std::size_t at = 0; (at = device.find(wanted, at)) != std::string::npos;) {
    at += wanted.size();
    use(device.substr(at, device.find(',', at) - at));
  }
}

void require_interface(const std::string& subject, const std::string& interface) {
  if (if_nametoindex(interface.c_str()) != 0) return;
  throw EnvironmentError(subject + "no network interface " +
                         shortened(interface, kShownValue_bytes) +
                         " is in this network namespace; `ip link` lists those that are. Name one "
                         "of them, or run this program where it is: ip netns exec NAMESPACE ...");
}

void require_file(const std::string& subject, const std::string& path, int wanted) {
  if (access(path.c_str(), wanted) == 0) return;
  throw EnvironmentError(subject + shortened(path, kShownValue_bytes) + ": " +
                         std::strerror(errno) + ".");
}

std::uint64_t open_files() {
  std::error_code failed;
  std::uint64_t count = 0;
  for (fs::directory_iterator each("/proc/self/fd", failed), end; !failed && each != end;
       each.increment(failed))
    ++count;
  return count;
}

}  // namespace

std::string argument_of(const std::string& device, std::string_view key) {
  std::size_t at = device.find(',');
  while (at != std::string::npos) {
    const std::size_t end = device.find(',', at + 1);
    const std::string part = device.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = part.find('=');
    if (equals != std::string::npos && std::string_view(part).substr(0, equals) == key)
      return part.substr(equals + 1);
    at = end;
  }
  return {};
}

bool is_pci_address(std::string_view device) noexcept {
  const auto hex = [&](std::size_t at, std::size_t n) {
    return std::all_of(device.begin() + static_cast<std::ptrdiff_t>(at),
                       device.begin() + static_cast<std::ptrdiff_t>(at + n),
                       [](unsigned char c) { return std::isxdigit(c) != 0; });
  };
  if (device.size() == 12 && device[4] == ':' && hex(0, 4)) device.remove_prefix(5);
  return device.size() == 7 && device[2] == ':' && device[5] == '.' && hex(0, 2) && hex(3, 2) &&
         hex(6, 1);
}

void check_cpu(std::uint32_t cpu) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    throw DpdkError("sched_getaffinity", "this process", errno);
  if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) return;
  if (may_move_to(cpu, allowed)) return;
  const bool exists = fs::exists("/sys/devices/system/cpu/cpu" + std::to_string(cpu));
  throw EnvironmentError(
      "lcore: CPU " + std::to_string(cpu) +
      (exists ? " is outside the set this process may run on" : " does not exist") +
      "; usable are: " + usable_cpus(allowed) +
      ". Set `lcore` in the configuration, or --lcore N, to one of them.");
}

void check_pci_device(const std::string& address, const std::string& bus) {
  std::error_code ignored;
  if (fs::exists(bus + "/" + with_pci_domain(address), ignored)) return;
  const std::string present = joined(network_controllers(bus));
  throw EnvironmentError(
      "device " + address + ": no such PCI device; network controllers present: " +
      (present.empty() ? "none" : present) + ". `outrider-doctor` says what they are bound to.");
}

std::string socket_of(const std::string& device) {
  if (is_vhost(device)) return argument_of(device, "iface");
  if (!is_virtio_user(device)) return {};
  std::string path = argument_of(device, "path");
  return path.starts_with("/dev/") ? std::string{} : path;  // /dev/vhost-net belongs to the kernel
}

bool binds_socket(const std::string& device) {
  if (socket_of(device).empty()) return false;
  if (is_vhost(device)) return argument_of(device, "client") != "1";
  return argument_of(device, "server") == "1";
}

void check_socket(const std::string& device) {
  const std::string path = socket_of(device);
  if (path.empty()) return;
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    throw EnvironmentError("socket " + shortened(path, kShownValue_bytes) + ": longer than the " +
                           std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                           " bytes that a Unix socket allows; choose a shorter directory.");
  std::string directory = fs::path(path).parent_path();
  if (directory.empty()) directory = ".";
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored))
    throw EnvironmentError("socket " + path + ": directory " + directory +
                           " does not exist; create it (mkdir -p " + directory + ").");
  const auto rights = fs::status(directory, ignored).permissions();
  if ((rights & fs::perms::others_write) != fs::perms::none &&
      (rights & fs::perms::sticky_bit) == fs::perms::none)
    throw EnvironmentError("socket " + path + ": any user may replace files in " + directory +
                           "; run chmod o-w " + directory + ", or choose another directory.");
  if (!binds_socket(device)) return;
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    throw EnvironmentError("socket " + path + ": no permission to create files in " + directory +
                           ".");
  if (!fs::exists(path, ignored)) return;
  if (!fs::is_socket(path, ignored))
    throw EnvironmentError("socket " + path + ": a file that is not a socket is in the way.");
  if (has_listener(path))
    throw EnvironmentError("socket " + path +
                           " is in use: another process listens on it. Stop that process, or give "
                           "this device a path of its own.");
  if (unlink(path.c_str()) != 0)
    throw EnvironmentError(
        "socket " + path +
        ": a dead process left it and it cannot be removed: " + std::strerror(errno));
}

void check_vdev(const std::string& name, const std::string& device) {
  const std::string subject =
      "device " + name + " (" + shortened(device, kShownValue_bytes) + "): ";
  const bool pcap = is_driver(device, "pcap");
  const bool one_interface = is_driver(device, "af_packet") || is_driver(device, "af_xdp");
  constexpr std::array kInterfaces{"iface", "rx_iface", "rx_iface_in", "tx_iface"};
  constexpr std::array kFiles{"rx_pcap", "tx_pcap"};
  const auto names = [&device](const char* key) { return !argument_of(device, key).empty(); };
  if (one_interface && !names("iface"))
    throw EnvironmentError(subject + "names no interface: add iface=NAME; `ip link` lists them.");
  if (pcap && std::ranges::none_of(kInterfaces, names) && std::ranges::none_of(kFiles, names))
    throw EnvironmentError(subject +
                           "names no interface and no file: add iface=NAME, or rx_pcap=FILE and "
                           "tx_pcap=FILE.");
  const auto interface = [&subject](const std::string& value) {
    require_interface(subject, value);
  };
  if (pcap || one_interface)
    for (const char* key : kInterfaces) for_each_value(device, key, interface);
  if (is_driver(device, "tap")) for_each_value(device, "remote", interface);
  if (!pcap) return;
  for_each_value(device, "rx_pcap",
                 [&](const std::string& path) { require_file(subject, path, R_OK); });
  for_each_value(device, "tx_pcap", [&](const std::string& path) {
    const fs::path directory = fs::path(path).parent_path();
    require_file(subject, directory.empty() ? "." : directory.string(), W_OK | X_OK);
  });
}

void check_free_memory(std::uint64_t needed_mb, const std::string& cure,
                       const MachineTree& machine) {
  const auto free_mb = free_memory_mb(machine);
  if (!free_mb || needed_mb <= *free_mb) return;
  throw EnvironmentError("memory: packet buffers and tables need " + std::to_string(needed_mb) +
                         " MiB, and " + std::to_string(*free_mb) + " MiB are free here. Lower " +
                         cure + ", or end other programs.");
}

void check_open_files(std::uint64_t further) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const std::uint64_t needed = open_files() + further;
  if (limit.rlim_cur >= needed) return;
  throw EnvironmentError("files: this process may have " + std::to_string(limit.rlim_cur) +
                         " open, and needs " + std::to_string(needed) +
                         ". Raise the limit: ulimit -n 1024 (LimitNOFILE of systemd).");
}

std::uint64_t free_hugepages_mb(const std::string& root) {
  std::uint64_t kilobytes = 0;
  for (const HugePagePool& pool : huge_page_pools(root))
    kilobytes += pool.free * pool.page_kilobytes;
  return kilobytes / 1024;
}

}  // namespace outrider
