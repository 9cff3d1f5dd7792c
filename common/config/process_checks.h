#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/setting_range.h"
#include "common/config/settings.h"
#include "common/core/batch.h"
#include "common/core/units.h"

namespace outrider {

// Rules shared by the files of all programs.

inline constexpr std::uint64_t kMaxDevices = 32;        ///< RTE_MAX_ETHPORTS of a default build
inline constexpr std::uint64_t kMaxRecords = 1U << 24;  ///< of one kind, kept in memory
inline constexpr std::uint64_t kPoolCachePackets = 512;

inline constexpr std::uint64_t kMaxLcore = 1023;
inline constexpr std::uint64_t kMaxMoreLcores = 63;

/// Returns the CPUs of the lcores, the main lcore's first.
template <class Config>
[[nodiscard]] std::vector<std::uint32_t> cpus_of(const Config& config) {
  std::vector<std::uint32_t> cpus{config.lcore};
  cpus.insert(cpus.end(), config.more_lcores.begin(), config.more_lcores.end());
  return cpus;
}

inline constexpr SettingRange kDescriptors = powers_of_two(32, 32768);
inline constexpr SettingRange kBinWidths = durations_from(std::chrono::microseconds(1));

/// TOML's integers are signed.
inline constexpr std::uint64_t kLargestTomlInteger = std::numeric_limits<std::int64_t>::max();

/// Returns the room [bytes] that a buffer needs for the longest frame of a device: DPDK's drivers
/// count the Ethernet header, tags and the FCS, and that of virtio-net its own header too.
[[nodiscard]] constexpr std::uint32_t receive_room_bytes(std::uint32_t mtu_bytes) noexcept {
  constexpr std::uint32_t kEthernetBytes = 14;
  constexpr std::uint32_t kTagsBytes = 2 * 4;
  constexpr std::uint32_t kVirtioBytes = 12;
  return mtu_bytes + kEthernetBytes + kTagsBytes + kFcsBytes + kVirtioBytes;
}

/// Returns the buffers that a receive queue of a NIC holds at most. Most drivers keep one for each
/// descriptor; vmxnet3 fills a second ring of the same size, and receives nothing at all once it
/// finds no further buffer.
[[nodiscard]] constexpr std::uint32_t receive_ring_mbufs(std::uint16_t rx_descriptors) noexcept {
  return 2 * std::uint32_t{rx_descriptors};
}

/// Returns whether DPDK makes the device, so that no NIC is behind its name.
[[nodiscard]] constexpr bool is_vdev(std::string_view device) noexcept {
  return device.starts_with("net_") || device.starts_with("eth_");
}

/// Checks the device of a [[device]]: a PCI address or a vdev.
void check_device(const Checks& at, std::string_view device);

/// States the rows that a [[device]] has in the files of all programs.
template <class Device>
void describe_device(Settings& v, Device& c) {
  const About descriptors{.range = kDescriptors, .help = "rings of the device"};
  v.value("name", c.name,
          {.required = true, .accepts = "unique", .help = "how ports and hosts refer to it"});
  v.value("device", c.device,
          {.required = true,
           .accepts = "PCI address, or a vdev string that begins with `net_` or `eth_`; unique; at "
                      "most 32 devices",
           .help = "the Ethernet device"});
  v.value("rx_descriptors", c.rx_descriptors, descriptors);
  v.value("tx_descriptors", c.tx_descriptors, descriptors);
}

}  // namespace outrider
