#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/checks.h"
#include "switch/config/config.h"

namespace outrider::sw {

inline constexpr std::uint64_t kMaxRxQueues = 64;  ///< most receive queues of a device

/// A set of ports of a switch that runs directly; bit p is port p.
using PortMask = std::uint64_t;

/// Packets that the ring from one lcore to another holds: the receiver may lag by 32 batches.
inline constexpr std::uint32_t kHandoverPackets = 1024;

/// Returns whether this configuration can pass packets from device to device without emulated
/// links (DirectSwitch), which also works on several lcores. It needs one switch, a device for
/// every port, and no delays.
bool runs_directly(const SwitchProcessConfig& config);

/// Rejects settings that several lcores cannot share.
void check_lcores(const Checks& root, const SwitchProcessConfig& config);

/// Returns how many receive queues a device gets at most.
constexpr std::uint64_t rx_queues_at_most(const DeviceConfig& device, std::uint64_t lcores) {
  return device.rx_queues ? *device.rx_queues : lcores;
}

/// Says which lcore owns which ports, devices and receive queues when several lcores share one
/// switch.
struct LcorePlan {
  struct RxQueue {
    std::uint32_t device = 0;
    std::uint16_t queue = 0;
    bool operator==(const RxQueue&) const = default;
  };

  /// [ports] number of the lcore that owns the egress port and the device's transmit queue
  std::vector<std::uint32_t> owner_of_port;
  std::vector<std::uint32_t> owner_of_device;      ///< [devices]
  std::vector<std::vector<RxQueue>> polled;        ///< [lcores] receive queues it polls
  std::vector<std::vector<std::uint32_t>> serves;  ///< [lcores] devices it transmits on
};

/// Assigns devices to lcores in turn, in their order, with the ports behind them. The owner of
/// a device polls its first receive queue, and the lcores after the owner poll the others. Pure.
///
/// @param config    valid; one switch, every port with a device
/// @param rx_queues number of receive queues [devices]
/// @param lcores    >= 1
LcorePlan plan_lcores(const SwitchProcessConfig& config, std::span<const std::uint16_t> rx_queues,
                      std::uint32_t lcores);

}  // namespace outrider::sw
