#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/checks.h"
#include "switch/config/config.h"

namespace outrider::sw {

inline constexpr std::uint64_t kMaxRxQueues = 64;  ///< of a device

/// Ports of a switch that runs directly: bit p is port p.
using PortMask = std::uint64_t;

/// What the ring from one lcore to another holds: 32 batches, by which it may lag.
inline constexpr std::uint32_t kHandoverPackets = 1024;

/// Can this configuration run packet by packet from device to device (DirectSwitch), on
/// several lcores too? One switch, every port a device's, no delays.
bool runs_directly(const SwitchProcessConfig& config);

/// What several lcores cannot share is refused.
void check_lcores(const Checks& root, const SwitchProcessConfig& config);

/// Receive queues that a device may get.
constexpr std::uint64_t rx_queues_at_most(const DeviceConfig& device, std::uint64_t lcores) {
  return device.rx_queues ? *device.rx_queues : lcores;
}

/// Who does what when several lcores share one switch of devices.
struct LcorePlan {
  struct RxQueue {
    std::uint32_t device = 0;
    std::uint16_t queue = 0;
    bool operator==(const RxQueue&) const = default;
  };

  /// [ports] lcore, by number, that owns the egress port and the device's transmit queue
  std::vector<std::uint32_t> owner_of_port;
  std::vector<std::uint32_t> owner_of_device;      ///< [devices]
  std::vector<std::vector<RxQueue>> polled;        ///< [lcores]
  std::vector<std::vector<std::uint32_t>> serves;  ///< [lcores] devices it transmits on
};

/// Devices are dealt out in their order, the ports behind a device with it. Of a device's
/// receive queues the owner polls the first, the lcores after it the others. Pure.
///
/// @param config    valid; one switch, every port with a device
/// @param rx_queues [devices]
/// @param lcores    >= 1
LcorePlan plan_lcores(const SwitchProcessConfig& config, std::span<const std::uint16_t> rx_queues,
                      std::uint32_t lcores);

}  // namespace outrider::sw
