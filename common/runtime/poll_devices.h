#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/dpdk/control_thread.h"
#include "common/dpdk/port.h"
#include "common/dpdk/receive.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/event_loop.h"

namespace outrider {

/// Returns when packet `i` of the `n` found by a poll arrived. Arrivals are spread evenly over
/// the time since the last poll, so that a batch does not reach a queue all at once and
/// distort its occupancy. @pre i < n, previous <= now
[[nodiscard]] constexpr Time arrival_time(Time previous, Time now, std::uint32_t i,
                                          std::uint32_t n) noexcept {
  return previous + (now - previous) * (i + 1) / n;
}

/// The devices of a process, each with its edge. Not thread-safe: the lcore of the poll loop
/// owns it. With several lcores, each receive queue and each edge has one owner. A control
/// thread logs links that went up or down, so that no lcore waits for the log, and hangs up on
/// peers that are of no use.
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
  /// Returns the received packets that were dropped because they did not fit one segment.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }
  [[nodiscard]] PortLosses losses() const noexcept;
  [[nodiscard]] PerClass<std::uint64_t> tx_dropped() const noexcept;

  /// Takes up to 32 packets of every device and hands them to
  /// `sink.receive_from_device(device, packet, arrived)` in order of arrival. Before each
  /// arrival `loop` runs up to it, so that all sources stay in order. If the sink has
  /// `expect(device, packets)`, it is called for each batch first, so that the sink can
  /// prefetch and the cache misses of a batch overlap.
  /// @return whether there were packets
  template <class Sink>
  bool receive(Time previous, Time now, EventLoop& loop, Sink& sink) noexcept;

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

  /// Holds, from now on, what a device with a link does not take, and offers it again; see
  /// DeviceEdge. Without a link packets are dropped, as by a NIC without carrier.
  void hold_when_full() noexcept;

  void flush() noexcept {
    for (auto& device : devices_) device->edge.flush();
  }

  /// Detects links that went up or down, and asks the program to stop if a device leaves (see
  /// Port::leaving()). Makes system calls, so call it seldom.
  /// @return whether all links are up
  bool check_links() noexcept;
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
    std::array<Packet*, kBatchPackets> batch{};
    std::uint16_t size = 0;
    std::uint16_t taken = 0;
    Time next{};  ///< arrival of batch[taken]
    /// Odd: the link is up. Written by the lcore that checks the links.
    std::atomic<std::uint32_t> link_changes{0};
    std::uint32_t changes_logged = 0;  ///< of link_changes; the log thread's own
    [[nodiscard]] bool up() const noexcept {
      return (link_changes.load(std::memory_order_relaxed) & 1) != 0;
    }
  };

  /// With fewer packets in a batch there are too few cache misses to overlap.
  static constexpr std::uint16_t kWorthPrefetching = 4;

  void check_peers();
  void log_links();
  std::uint32_t poll_all(Time previous, Time now) noexcept;

  std::vector<std::unique_ptr<Device>> devices_;
  std::uint64_t malformed_ = 0;
  bool hold_ = false;
  std::unique_ptr<ControlThread> link_log_;  ///< last member: it uses the devices
};

template <class Sink>
bool PollDevices::receive(Time previous, Time now, EventLoop& loop, Sink& sink) noexcept {
  std::uint32_t left = poll_all(previous, now);
  const bool any = left != 0;
  if constexpr (requires { sink.expect(0U, std::span<Packet* const>{}); }) {
    for (std::uint32_t d = 0; d < devices_.size(); ++d)
      if (devices_[d]->size >= kWorthPrefetching)
        sink.expect(d, {devices_[d]->batch.data(), devices_[d]->size});
  }
  for (; left != 0; --left) {
    std::uint32_t first = 0;
    for (std::uint32_t d = 1; d < devices_.size(); ++d)
      if (devices_[d]->next < devices_[first]->next) first = d;
    Device& device = *devices_[first];
    Packet* packet = device.batch[device.taken++];
    const Time arrived = device.next;
    device.next = device.taken == device.size
                      ? kNever
                      : arrival_time(previous, now, device.taken, device.size);
    if (!prepare_received(*packet)) [[unlikely]] {
      ++malformed_;
      release(packet);
      continue;
    }
    loop.run_until(arrived);
    sink.receive_from_device(first, packet, arrived);
  }
  return any;
}

}  // namespace outrider
