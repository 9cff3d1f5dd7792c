#pragma once

#include <rte_ethdev.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/batch.h"
#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "common/dpdk/packet/thread_order.h"
#include "common/dpdk/port/counted_losses.h"
#include "common/dpdk/port/packet_socket_drops.h"
#include "common/dpdk/port/peer_watch.h"
#include "common/dpdk/port/removal_watch.h"
#include "common/net/headers.h"

namespace outrider {

struct PortConfig {
  std::string name{};    ///< the user's name for it, in messages
  std::string device{};  ///< PCI address, or vdev string "net_vhost0,iface=/tmp/s,client=1"
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  /// Absent: as many as `lcores` if the device can spread flows over them (RSS), else one.
  std::optional<std::uint16_t> rx_queues{};
  std::uint16_t lcores = 1;        ///< number of lcores that poll the port
  std::uint16_t mtu_bytes = 1500;  ///< longest IP packet; the pool must have room for it
  /// Addresses of all hosts behind the port, for devices that have no promiscuous mode; empty if
  /// they are not known, as for a switch.
  std::vector<MacAddress> hosts{};
  /// Longest wait of a virtio-user server for its peer while it is attached. The wait also ends
  /// as soon as `cancelled` returns true.
  Duration peer_timeout = std::chrono::seconds(30);
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(std::string_view)> inform = [](std::string_view) {};
};

/// How a port comes to receive frames for addresses that are not its own.
enum class ReceiveFilter : std::uint8_t {
  kUnfiltered,   ///< a virtual device: it hands over everything
  kPromiscuous,  ///< switched off
  kAddresses,    ///< it knows the addresses of all hosts behind it
  kOwnOnly,      ///< frames to its own address alone
};

/// Decides what makes the device receive. @param promiscuous the device is in that mode
/// @param addresses of hosts behind it that must be added, if they are known; 0: they are not
/// @param room for further addresses
[[nodiscard]] constexpr ReceiveFilter receive_filter(bool is_virtual, bool promiscuous,
                                                     std::size_t addresses,
                                                     std::size_t room) noexcept {
  if (promiscuous) return ReceiveFilter::kPromiscuous;
  if (is_virtual) return ReceiveFilter::kUnfiltered;
  return addresses > 0 && addresses <= room ? ReceiveFilter::kAddresses : ReceiveFilter::kOwnOnly;
}

/// What a device has lost. Absent: it does not count that, see counted_losses.h.
struct PortLosses {
  std::optional<std::uint64_t> rx_missed{};  ///< it had no free descriptor
  std::optional<std::uint64_t> rx_nombuf{};  ///< the pool was empty
  std::optional<std::uint64_t> rx_errors{};  ///< arrived damaged
  std::uint64_t tx_failed = 0;  ///< tx() took them, then the device failed to send them
};

/// What has passed a port since it was opened [packets].
struct PortPackets {
  std::uint64_t taken = 0;  ///< by tx()
  std::uint64_t received = 0;
};

/// Returns how many of the `taken` packets a device failed to send, from its counters of
/// packets sent and of errors. Drivers disagree about errors: net_af_packet counts packets that
/// it took, net_tap and net_vhost count packets that they refused and that their caller still
/// owns. A packet that was taken is missing from `sent` only if the device failed to send it, or
/// still holds it. So both counters must say so. Pure.
[[nodiscard]] constexpr std::uint64_t failed_after_taking(std::uint64_t taken, std::uint64_t sent,
                                                          std::uint64_t errors) noexcept {
  return taken > sent ? std::min(errors, taken - sent) : 0;
}

/// A started Ethernet port with one transmit queue; the destructor stops and closes it.
/// `rx_pool` must outlive it, so declare the pool first. Not thread-safe: one lcore owns it.
/// Only rx() may be called by several lcores, one per receive queue.
class Port {
 public:
  /// Attaches the device if it is virtual, configures and starts it.
  /// @throws EnvironmentError with cause and remedy
  Port(const PortConfig& config, rte_mempool& rx_pool);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// @param out [size = n]; the caller owns the packets received. @return their number
  std::uint16_t rx(Packet** out, std::uint16_t n, std::uint16_t queue = 0) const noexcept {
    const std::uint16_t received = rte_eth_rx_burst(id_, queue, out, n);
    if constexpr (kToldOfOrder)
      for (std::uint16_t i = 0; i < received; ++i) take_over(out[i]);
    return received;
  }
  [[nodiscard]] std::uint16_t rx_queues() const noexcept { return rx_queues_; }
  /// Sends the first packets. @return packets taken; the caller still owns the rest
  std::uint16_t tx(Packet** packets, std::uint16_t n) const noexcept {
    if constexpr (kToldOfOrder)
      for (std::uint16_t i = 0; i < n; ++i) pass_on(packets[i]);
    const std::uint16_t taken = rte_eth_tx_burst(id_, 0, packets, n);
    taken_.store(taken_.load(std::memory_order_relaxed) + taken, std::memory_order_relaxed);
    return taken;
  }

  [[nodiscard]] bool link_up() const noexcept;
  /// Returns whether the machine wants a PCI device back, as somebody unplugs it: it waits until
  /// this process has closed the device. Any thread.
  [[nodiscard]] bool leaving() const noexcept { return removal_ && removal_->leaving(); }
  /// Call it in equal intervals, on one control thread. It asks no NIC for its link: that is the
  /// owner's to do, because drivers read registers for it.
  /// @return the socket on which the port hung up on a peer that is of no use, see PeerWatch;
  ///         mostly empty
  [[nodiscard]] std::string check_peer() {
    return peer_ && peer_->check(link_up(), rx_queues_) ? peer_->socket() : std::string{};
  }
  /// Returns the rate that the driver reports; zero if unknown. Virtual devices invent one.
  [[nodiscard]] BitRate link_rate() const noexcept;
  [[nodiscard]] bool is_virtual() const noexcept { return !vdev_.empty(); }
  /// Returns the NUMA node that has the device, if the machine tells.
  [[nodiscard]] std::optional<std::uint32_t> numa_node() const noexcept;
  /// Returns the longest IP packet [bytes].
  [[nodiscard]] std::uint32_t mtu_bytes() const noexcept;
  /// Returns what the device has lost since it was opened. Any thread.
  [[nodiscard]] PortLosses losses() const noexcept;
  /// Returns what has passed it, by its counters. Any thread.
  [[nodiscard]] PortPackets packets() const noexcept;
  [[nodiscard]] std::uint16_t id() const noexcept { return id_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  void attach(const PortConfig& config);
  void configure(const PortConfig& config, rte_mempool& rx_pool);
  void check(const char* call, int error) const;
  [[nodiscard]] rte_eth_conf device_conf(const PortConfig& config);
  void check_descriptors(const PortConfig& config) const;
  void set_mtu(const PortConfig& config) const;
  void receive_for_hosts(const PortConfig& config) const;
  void find_counters();
  void detach() noexcept;

  std::string name_;
  std::string vdev_;  ///< name of the virtual device that this port attached; empty: none
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  std::uint16_t rx_queues_ = 1;
  CountedLosses counted_{};
  std::optional<PacketSocketDrops> socket_drops_{};  ///< of net_af_packet
  /// Packets that tx() has taken. Written by its one caller, read by control threads.
  mutable std::atomic<std::uint64_t> taken_{0};
  std::optional<RemovalWatch> removal_{};  ///< of a PCI device
  std::optional<PeerWatch> peer_{};        ///< of a virtio-user server
};

}  // namespace outrider
