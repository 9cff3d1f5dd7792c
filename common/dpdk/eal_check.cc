#include "common/dpdk/eal_check.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/core/shortened.h"
#include "common/dpdk/error.h"
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

std::uint64_t free_hugepages_mb(const std::string& root) {
  std::uint64_t kilobytes = 0;
  for (const HugePagePool& pool : huge_page_pools(root))
    kilobytes += pool.free * pool.page_kilobytes;
  return kilobytes / 1024;
}

}  // namespace outrider
