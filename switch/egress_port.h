#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/egress_queue.h"
#include "common/core/random.h"
#include "common/core/regulator.h"
#include "common/core/service_clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/config.h"
#include "switch/live.h"
#include "switch/parse.h"
#include "switch/queue_tap.h"
#include "switch/report.h"

namespace outrider {

/// Everything behind "forward to this port": admission, marking, the data
/// queue, the signals' own queue served before it, the regulator, and the drain
/// rate, which is the one known bottleneck.
///
/// The drain is exact in packet time: before a packet is judged, everything
/// that would have left by its arrival has left. So a poll's batch, whose
/// packets carry interpolated arrival times, sees the same occupancies as
/// packets that come one by one.
///
/// Identity, per class: arrived == transmitted + sum(drops) + resident.
/// Not thread-safe: one lcore owns a port and all its state.
class EgressPort final : public EventSource {
 public:
  struct Limits {
    QueueTap::Limits tap;
    std::uint64_t seed = 1;  ///< of the ports' injected loss
  };
  EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits);
  EgressPort(const EgressPort&) = delete;
  EgressPort& operator=(const EgressPort&) = delete;
  ~EgressPort() { flush(); }

  /// Where departures go. Once, before the first packet.
  void connect(Link& out) noexcept { out_ = &out; }
  /// Splits the waiting time of data packets with an owner. Once, before the first
  /// packet. @pre all packets are of a pool with attribution
  void attribute(std::uint32_t owners) { service_ = std::make_unique<ServiceClock>(owners); }

  /// A START for a burst that will leave through this port.
  void on_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                Time now) noexcept;

  /// Takes ownership: transmits, queues or drops. Time does not decrease.
  /// @param signal the packet is an admitted signal: served first, never marked
  void enqueue(Packet* packet, const ParsedPacket& parsed, bool signal, Time now) noexcept;

  Time fire(Time now) noexcept override;

  /// Releases what waits. Counted as resident before.
  void flush() noexcept;

  [[nodiscard]] std::uint64_t resident() const noexcept {
    return queue_.occupancy_packets() + signals_.occupancy_packets();
  }
  [[nodiscard]] const std::string& name() const noexcept { return config_.name; }
  [[nodiscard]] const PerClass<std::uint64_t>& transmitted() const noexcept { return transmitted_; }
  [[nodiscard]] const PerClass<std::array<std::uint64_t, kDropReasons>>& drops() const noexcept {
    return drops_;
  }
  [[nodiscard]] std::uint32_t occupancy_packets() const noexcept {
    return queue_.occupancy_packets();
  }
  [[nodiscard]] const Regulator& regulator() const noexcept { return regulator_; }

  [[nodiscard]] QueueReport report(Time now) const;
  void add_to(SwitchLive& live) const noexcept;

 private:
  using Queue = EgressQueue<Packet*>;

  struct Threshold {
    std::uint32_t packets = 0;
    MarkReason reason{};
  };
  [[nodiscard]] Threshold threshold_for(TrafficClass c, Time now) noexcept;
  void mark_if_due(Packet& packet, TrafficClass c, Time now) noexcept;
  void drop(Packet* packet, TrafficClass c, DropReason reason) noexcept;
  /// Every packet takes a draw, so that which are lost does not depend on the queue.
  [[nodiscard]] bool loses_next() noexcept {
    return loss_below_ != 0 && loss_.next_u32() < loss_below_;
  }
  void begin_wait(Packet& packet, Time now) noexcept;
  void end_wait(Packet& packet, Time start) noexcept;
  void serve_until(Time now) noexcept;
  void depart(Time start) noexcept;
  [[nodiscard]] bool backlogged() const noexcept { return !queue_.empty() || !signals_.empty(); }

  SwitchPortConfig config_;
  EventLoop& loop_;
  SourceId id_;
  Link* out_ = nullptr;
  Serializer serializer_;
  Queue queue_;
  Queue signals_;
  Regulator regulator_;
  RandomStream loss_;
  std::uint64_t loss_below_;  ///< of 2^32; 0: nothing is lost
  PerClass<std::uint32_t> initial_threshold_{};
  std::unique_ptr<QueueTap> tap_;          ///< only if config_.record
  std::unique_ptr<ServiceClock> service_;  ///< only with attribution

  PerClass<std::uint64_t> arrived_{};
  PerClass<std::uint64_t> transmitted_{};
  PerClass<std::uint64_t> transmitted_bytes_{};
  PerClass<std::array<std::uint64_t, kDropReasons>> drops_{};
  PerClass<std::array<std::uint64_t, kMarkReasons>> marks_{};
};

}  // namespace outrider
