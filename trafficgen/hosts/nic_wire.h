#pragma once

#include <chrono>
#include <cstdint>

#include "common/core/random.h"
#include "common/core/units.h"
#include "common/dpdk/packet/packet.h"
#include "common/runtime/backpressure.h"
#include "common/runtime/link.h"
#include "trafficgen/hosts/host_counters.h"

namespace outrider::tg {

/// Holds what a host's NIC sends with: buffers, the wire, and when it may send again. A NIC that
/// lacks a buffer, or whose device is full, tries again a little later. Not thread-safe: the host
/// owns it.
class NicWire {
 public:
  struct Setup {
    BitRate rate{};
    std::uint32_t mtu_bytes = 0;
    double send_jitter = 0;  ///< share of an MTU's time, see GeneratorConfig
    std::uint64_t seed = 1;
    std::uint32_t index = 0;  ///< entity of its random stream
  };
  /// @param pool must outlive this
  NicWire(const Setup& setup, rte_mempool& pool)
      : pool_(pool),
        serializer_(setup.rate, RateLayer::kL1),
        jitter_(setup.seed, setup.index, RandomPurpose::kSendJitter),
        jitter_ns_(static_cast<std::uint64_t>(
            setup.send_jitter *
            static_cast<double>(serializer_
                                    .duration_of(setup.mtu_bytes +
                                                 static_cast<std::uint32_t>(sizeof(EthernetHeader)))
                                    .count()))) {}

  /// @param backpressure nothing is sent while it is full; nullptr: no backpressure
  void connect(Link& out, const Backpressure* backpressure) noexcept {
    out_ = &out;
    backpressure_ = backpressure;
  }

  /// Begins a new attempt: the NIC looks for something to send, so no retry is pending.
  void begin() noexcept { retry_at_ = kNever; }
  [[nodiscard]] bool is_free(Time now) const noexcept { return serializer_.free_at() <= now; }
  /// Returns when the NIC may send next.
  [[nodiscard]] Time next() const noexcept {
    return retry_at_ == kNever ? serializer_.free_at() : retry_at_;
  }
  /// @return nullptr if no buffer is left or the device is full; both are counted
  [[nodiscard]] Packet* take_buffer(HostCounters& counters, Time now) noexcept {
    if (backpressure_ != nullptr && backpressure_->full) {
      ++counters.device_full_waits;
      retry_at_ = now + kRetry;
      return nullptr;
    }
    Packet* packet = rte_pktmbuf_alloc(&pool_);
    if (packet == nullptr) {
      ++counters.mbuf_exhausted;
      retry_at_ = now + kRetry;
    }
    return packet;
  }
  /// Returns when a transmission that may begin now does begin.
  [[nodiscard]] Time start_at(Time now) noexcept {
    // A wire that just became free continues; one that was idle starts at random.
    if (serializer_.free_at() == now || jitter_ns_ == 0) return now;
    const auto wait = (std::uint64_t{jitter_.next_u32()} * jitter_ns_) >> 32;
    return now + Duration{static_cast<std::int64_t>(wait)};
  }
  /// Occupies the wire with the packet. @return when its last bit leaves
  Time occupy(const Packet& packet, Time start) noexcept {
    return serializer_.transmit(meta(packet).frame_bytes, start);
  }
  void push(Packet* packet, Time finish) noexcept { out_->push(packet, finish); }

 private:
  static constexpr Duration kRetry = std::chrono::microseconds(10);

  rte_mempool& pool_;
  Link* out_ = nullptr;
  const Backpressure* backpressure_ = nullptr;
  Serializer serializer_;
  RandomStream jitter_;
  std::uint64_t jitter_ns_;
  Time retry_at_ = kNever;  ///< set when no buffer was left or the device was full
};

}  // namespace outrider::tg
