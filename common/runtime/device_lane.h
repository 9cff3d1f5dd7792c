#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/core/clock.h"
#include "common/dpdk/packet/receive.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/poll_devices.h"

namespace outrider {

/// Returns when packet `i` of the `n` found by a poll arrived. Arrivals are spread evenly over
/// the time since the last poll, so that a batch does not reach a queue all at once and
/// distort its occupancy. @pre i < n, previous <= now
[[nodiscard]] constexpr Time arrival_time(Time previous, Time now, std::uint32_t i,
                                          std::uint32_t n) noexcept {
  return previous + (now - previous) * (i + 1) / n;
}

/// One lcore's share of the devices of a process: those that it alone polls and sends by. Lanes
/// of different lcores share no device. Not thread-safe: its lcore owns it.
class DeviceLane {
 public:
  /// Takes all devices. @param devices must outlive the lane
  explicit DeviceLane(PollDevices& devices);
  /// @param own  positions of the lane's devices, ascending
  DeviceLane(PollDevices& devices, const std::vector<std::uint32_t>& own);

  /// Takes up to 32 packets of every device and hands them to
  /// `sink.receive_from_device(device, packet, arrived)` in order of arrival. Before each
  /// arrival `loop` runs up to it, so that all sources stay in order. If the sink has
  /// `expect(device, packets)`, it is called for each batch first, so that the sink can
  /// prefetch and the cache misses of a batch overlap.
  /// @return whether there were packets
  template <class Sink>
  bool receive(Time previous, Time now, EventLoop& loop, Sink& sink) noexcept;

  void flush() noexcept {
    for (const Arrivals& arrivals : arrivals_) devices_.edge(arrivals.device).flush();
  }

  /// Holds, from now on, what a device with a link does not take, and offers it again; see
  /// DeviceEdge. Without a link packets are dropped, as by a NIC without carrier.
  void hold_when_full() noexcept;
  /// See PollDevices::check_links(); for the devices of the lane. Makes system calls, so call it
  /// seldom.
  void check_links() noexcept;

  /// Returns whether one of the devices holds packets back, see hold_when_full().
  [[nodiscard]] bool full() const noexcept;

  /// Returns the received packets that were dropped because they did not fit one segment.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }
  [[nodiscard]] PerClass<std::uint64_t> tx_dropped() const noexcept;

 private:
  /// The packets that a poll found at one device.
  struct Arrivals {
    std::uint32_t device = 0;
    std::uint16_t size = 0;
    std::uint16_t taken = 0;
    Time next{};  ///< arrival of batch[taken]
    std::array<Packet*, kBatchPackets> batch{};
  };

  /// With fewer packets in a batch there are too few cache misses to overlap.
  static constexpr std::uint16_t kWorthPrefetching = 4;

  std::uint32_t poll_all(Time previous, Time now) noexcept;
  void hold_with_link() noexcept;

  PollDevices& devices_;
  std::vector<Arrivals> arrivals_;  ///< [devices of the lane]
  std::uint64_t malformed_ = 0;
  bool hold_ = false;
};

template <class Sink>
bool DeviceLane::receive(Time previous, Time now, EventLoop& loop, Sink& sink) noexcept {
  std::uint32_t left = poll_all(previous, now);
  const bool any = left != 0;
  if constexpr (requires { sink.expect(0U, std::span<Packet* const>{}); }) {
    for (const Arrivals& arrivals : arrivals_)
      if (arrivals.size >= kWorthPrefetching)
        sink.expect(arrivals.device, {arrivals.batch.data(), arrivals.size});
  }
  for (; left != 0; --left) {
    Arrivals* first = arrivals_.data();
    for (Arrivals& other : arrivals_)
      if (other.next < first->next) first = &other;
    Packet* packet = first->batch[first->taken++];
    const Time arrived = first->next;
    first->next = first->taken == first->size
                      ? kNever
                      : arrival_time(previous, now, first->taken, first->size);
    if (!prepare_received(*packet)) [[unlikely]] {
      ++malformed_;
      release(packet);
      continue;
    }
    loop.run_until(arrived);
    sink.receive_from_device(first->device, packet, arrived);
  }
  return any;
}

}  // namespace outrider
