#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/dpdk/eal/control_thread.h"
#include "common/dpdk/packet/receive.h"
#include "common/dpdk/port/port.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/device_losses.h"

namespace outrider {

/// The devices of a process, each with its edge. Not thread-safe: each receive queue and each edge
/// belongs to one lcore, see DeviceLane. A control thread logs links that went up or down, so that
/// no lcore waits for the log, and hangs up on peers that are of no use.
class PollDevices {
 public:
  /// Opens the devices and warns of those at another NUMA node than an lcore or the pool.
  /// @param rx_pool must outlive the devices
  /// @throws EnvironmentError
  PollDevices(const std::vector<PortConfig>& configs, rte_mempool& rx_pool);
  /// Logs the last changes of links.
  ~PollDevices();
  PollDevices(const PollDevices&) = delete;
  PollDevices& operator=(const PollDevices&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return devices_.size(); }
  [[nodiscard]] DeviceEdge& edge(std::size_t device) noexcept { return devices_[device]->edge; }
  [[nodiscard]] const Port& port(std::size_t device) const noexcept {
    return devices_[device]->port;
  }
  [[nodiscard]] DeviceLosses losses() const;
  [[nodiscard]] PerClass<std::uint64_t> tx_dropped() const noexcept;

  /// Takes packets of one receive queue and prefetches what reading them touches first. Called
  /// by the queue's owner, which then owns the packets and must call prepare_received().
  /// @return the number of places of `room` that were filled
  std::uint16_t receive_batch(std::uint32_t device, std::uint16_t queue,
                              std::span<Packet*, kBatchPackets> room) const noexcept {
    const std::uint16_t size = devices_[device]->port.rx(room.data(), kBatchPackets, queue);
    for (std::uint16_t i = 0; i < size; ++i) prefetch_received(*room[i]);
    return size;
  }
  /// Returns the number of receive queues of each device [size()].
  [[nodiscard]] std::vector<std::uint16_t> rx_queues() const;

  void flush() noexcept {
    for (auto& device : devices_) device->edge.flush();
  }

  /// Detects links that went up or down, and asks the program to stop if a device leaves (see
  /// Port::leaving()). Makes system calls, so call it seldom.
  /// @return whether all links are up
  bool check_links() noexcept;
  /// The same for one device. @return whether its link is up
  bool check_link(std::size_t device) noexcept;
  /// Returns the state of the link at the last check. Any thread.
  [[nodiscard]] bool up(std::size_t device) const noexcept { return devices_[device]->up(); }
  /// Returns the names of the devices whose link was down at the last check.
  [[nodiscard]] std::string down() const;
  /// Call it after the run, once its report is written.
  /// @throws EnvironmentError naming the devices that left during the run
  void require_all() const;

 private:
  struct Device {
    Device(const PortConfig& config, rte_mempool& pool) : port(config, pool), edge(port) {}
    Port port;
    DeviceEdge edge;
    /// Odd: the link is up. Written by the lcore that checks the links.
    std::atomic<std::uint32_t> link_changes{0};
    std::uint32_t changes_logged = 0;  ///< of link_changes; the log thread's own
    [[nodiscard]] bool up() const noexcept {
      return (link_changes.load(std::memory_order_relaxed) & 1) != 0;
    }
  };

  void check_peers();
  void log_links();

  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<ControlThread> link_log_;  ///< last member: it uses the devices
};

}  // namespace outrider
