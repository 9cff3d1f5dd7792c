#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace outrider {

[[nodiscard]] inline bool is_virtio_user(std::string_view device) noexcept {
  return device.starts_with("net_virtio_user") || device.starts_with("virtio_user");
}

/// What goes wrong before or inside DPDK's EAL is found here first, so that the
/// user reads a cause and a remedy instead of a trace. All throw EnvironmentError.

/// "0000:03:00.0" or "03:00.0"; anything else names a virtual device.
[[nodiscard]] bool is_pci_address(std::string_view device) noexcept;

/// The CPU exists and this process may run on it, or be moved to it: isolated CPUs.
void check_cpu(std::uint32_t cpu);

/// @param bus  directory that has one entry per device of this machine
void check_pci_device(const std::string& address, const std::string& bus = "/sys/bus/pci/devices");

/// Path of the Unix socket that a vhost or virtio-user device string names; empty: none.
[[nodiscard]] std::string socket_of(const std::string& device);
/// Is this end of the socket the one that binds it?
[[nodiscard]] bool binds_socket(const std::string& device);
/// Its directory can be used; if this end binds it, nobody listens there yet.
/// A file that a dead process left behind is not in the way and is removed.
void check_socket(const std::string& device);

/// Free huge pages of all sizes [MiB].
/// @param root  directory with one hugepages-<n>kB per size
[[nodiscard]] std::uint64_t free_hugepages_mb(const std::string& root = "/sys/kernel/mm/hugepages");

}  // namespace outrider
