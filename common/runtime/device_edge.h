#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "common/core/traffic_class.h"
#include "common/dpdk/port/port.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/node.h"

namespace outrider {

/// The far end of links that lead out of the process. It gathers packets and hands them to a
/// device's transmit queue, 32 at once or on flush(). There are two ways to handle packets
/// that the ring does not take. They are dropped and counted, as by a switch whose queues are
/// before this one. Or they are held in order and offered again with each flush, while
/// backpressure().full tells the senders to wait, as an operating system stops the queue of
/// a busy NIC. Neither way blocks the poll.
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
    if (size_ == kBatchPackets) [[unlikely]]
      return wait(packet);
    batch_[size_++] = packet;
    if (size_ == kBatchPackets) flush();
  }

  /// Selects whether packets that the ring does not take are held; otherwise they are dropped.
  void hold(bool held) noexcept { hold_ = held; }
  /// Returns the state of the edge. full: the last flush held packets back.
  [[nodiscard]] const Backpressure& backpressure() const noexcept { return backpressure_; }

  void flush() noexcept;

  [[nodiscard]] std::uint64_t transmitted() const noexcept { return transmitted_; }
  /// Returns the packets dropped as DropReason::kDeviceTxFull, by class.
  [[nodiscard]] const PerClass<std::uint64_t>& dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t resident() const noexcept { return size_ + waiting_; }

 private:
  void wait(Packet* packet) noexcept;
  void keep_from(std::uint16_t taken) noexcept;
  void drop_from(std::uint16_t taken) noexcept;

  Port& port_;
  std::array<Packet*, kBatchPackets> batch_{};
  std::uint16_t size_ = 0;
  bool hold_ = false;
  Backpressure backpressure_;
  /// Chained through their meta data; packets wait only behind a full batch.
  Packet* first_waiting_ = nullptr;
  Packet* last_waiting_ = nullptr;
  std::uint64_t waiting_ = 0;
  std::uint64_t transmitted_ = 0;
  PerClass<std::uint64_t> dropped_{};
};

}  // namespace outrider
