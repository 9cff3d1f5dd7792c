#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "common/core/traffic_class.h"
#include "common/dpdk/port.h"
#include "common/runtime/node.h"

namespace outrider {

/// The far end of links that lead out of the process: gathers packets and hands
/// them to a device's transmit queue, 32 at once or when told to flush. What
/// the ring does not take is dropped and counted, never retried: a full ring
/// must not hold up the poll.
///
/// Identity: received == transmitted + sum(dropped) + resident.
class DeviceEdge final : public Node {
 public:
  /// @param port must outlive the edge
  explicit DeviceEdge(Port& port) noexcept : port_(port) {}
  DeviceEdge(const DeviceEdge&) = delete;
  DeviceEdge& operator=(const DeviceEdge&) = delete;
  ~DeviceEdge();

  /// @pre the buffer holds the whole frame: no packet of the virtual runtime
  void receive(std::uint32_t, Packet* packet, Time) noexcept override {
    assert(rte_pktmbuf_pkt_len(packet) == meta(*packet).frame_bytes);
    batch_[size_++] = packet;
    if (size_ == kBatchPackets) flush();
  }

  void flush() noexcept;

  [[nodiscard]] std::uint64_t transmitted() const noexcept { return transmitted_; }
  /// DropReason::kDeviceTxFull, by class.
  [[nodiscard]] const PerClass<std::uint64_t>& dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint16_t resident() const noexcept { return size_; }

 private:
  Port& port_;
  std::array<Packet*, kBatchPackets> batch_{};
  std::uint16_t size_ = 0;
  std::uint64_t transmitted_ = 0;
  PerClass<std::uint64_t> dropped_{};
};

}  // namespace outrider
