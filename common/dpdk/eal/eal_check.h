#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/machine/machine_tree.h"

namespace outrider {

[[nodiscard]] inline bool is_virtio_user(std::string_view device) noexcept {
  return device.starts_with("net_virtio_user") || device.starts_with("virtio_user");
}

/// Returns the value of `key` in "driver,key=value,..."; empty if it is not there.
[[nodiscard]] std::string argument_of(const std::string& device, std::string_view key);

/// These checks find errors before DPDK's EAL meets them, so that the user reads a cause and a
/// remedy instead of a trace. Functions named check_... throw EnvironmentError.

/// Returns whether it is a PCI address, "0000:03:00.0" or "03:00.0"; otherwise it is virtual.
[[nodiscard]] bool is_pci_address(std::string_view device) noexcept;

/// Checks that the CPU exists and that this process runs on it or may move to it (isolated CPU).
void check_cpu(std::uint32_t cpu);

/// Checks that the device exists. @param bus  directory with one entry per device
void check_pci_device(const std::string& address, const std::string& bus = "/sys/bus/pci/devices");

/// Returns the path of the Unix socket in a vhost or virtio-user device string; empty: none.
[[nodiscard]] std::string socket_of(const std::string& device);
/// Returns whether this end of the socket binds it.
[[nodiscard]] bool binds_socket(const std::string& device);
/// Checks that the socket's directory is usable and, if this end binds the socket, that no
/// process listens there yet. It removes a socket file that a dead process left behind.
void check_socket(const std::string& device);

/// Checks what a virtual device of the kernel's or of a capture names: that its interfaces are in
/// this network namespace, and its files readable.
/// @param name  of the device, for the message
void check_vdev(const std::string& name, const std::string& device);

/// Checks that memory of ordinary pages is free. @param cure  ends "... Lower ", names keys
void check_free_memory(std::uint64_t needed_mb, const std::string& cure,
                       const MachineTree& machine);

/// Checks that the process may open so many more files; DPDK aborts where it may not.
void check_open_files(std::uint64_t further);

/// Returns the free huge pages of all sizes [MiB].
/// @param root  directory with one hugepages-<n>kB per size
[[nodiscard]] std::uint64_t free_hugepages_mb(const std::string& root = "/sys/kernel/mm/hugepages");

}  // namespace outrider
