#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/link.h"

namespace outrider::sw {

/// The way out of a port, the known bottleneck: a serializer with the port's drain rate, and what
/// takes the packets that leave. That is a link in an event loop, or a device, which takes a packet
/// when its last bit has left: the port is then polled.
///
/// Not thread-safe: the lcore of the port owns it.
class PortOutput {
 public:
  PortOutput(BitRate rate, RateLayer layer) noexcept
      : serializer_(rate, layer), rate_(rate), layer_(layer) {}

  /// Sends departures to `out`. Call once, before the first packet.
  void connect(Link& out) noexcept { out_ = &out; }
  /// Sends departures to `device` and makes the port polled. The device must outlive the last
  /// packet. Call once, before the first packet.
  void connect(DeviceEdge& device) noexcept { device_ = &device; }
  [[nodiscard]] bool polled() const noexcept { return device_ != nullptr; }

  [[nodiscard]] const Serializer& serializer() const noexcept { return serializer_; }
  /// Returns the instant from which the next packet may start.
  [[nodiscard]] Time free_at() const noexcept { return serializer_.free_at(); }
  /// Starts a packet. @return when its last bit will have left. @pre free_at() <= start
  Time transmit(std::uint32_t frame_bytes, Time start) noexcept {
    return serializer_.transmit(frame_bytes, start);
  }
  /// Takes ownership of the packet that was started. @param finish  of transmit()
  [[gnu::always_inline]] void push(Packet* packet, Time finish) noexcept {
    assert(out_ != nullptr || device_ != nullptr);
    assert(in_service_ == nullptr);
    if (polled()) in_service_ = packet;
    else out_->push(packet, finish);
  }
  /// If polled: hands the packet in service, which has left, to the device. @pre free_at() has been
  /// reached
  [[gnu::noinline]] void hand_over() noexcept {
    if (in_service_ == nullptr) return;
    device_->receive(0, in_service_, serializer_.free_at());
    in_service_ = nullptr;
    ++handed_over_;
  }
  /// Fetches what push() reads.
  void prepare() const noexcept { __builtin_prefetch(out_, 1); }

  /// Returns the packets (0 or 1) that a polled port is sending and has not handed over yet.
  [[nodiscard]] std::uint64_t in_service() const noexcept { return in_service_ != nullptr; }
  /// Returns the number of packets that a polled port has handed to its device.
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_; }
  [[nodiscard]] BitRate rate() const noexcept { return rate_; }
  /// Returns the bytes that the rate counts with each frame.
  [[nodiscard]] std::uint64_t overhead_bytes() const noexcept {
    return layer_ == RateLayer::kL1 ? kL1OverheadBytes : 0;
  }

  /// Applies from the next packet on.
  void change(BitRate rate, RateLayer layer) noexcept {
    serializer_.change(rate, layer);
    rate_ = rate;
    layer_ = layer;
  }
  /// Releases the packet in service.
  void flush() noexcept {
    if (in_service_ != nullptr) release(in_service_);
    in_service_ = nullptr;
  }

 private:
  // Members that every packet touches come first.
  Serializer serializer_;
  Packet* in_service_ = nullptr;  ///< if polled: being sent until serializer_.free_at()
  DeviceEdge* device_ = nullptr;  ///< if polled: takes what leaves
  Link* out_ = nullptr;
  std::uint64_t handed_over_ = 0;
  BitRate rate_;
  RateLayer layer_;
};

}  // namespace outrider::sw
