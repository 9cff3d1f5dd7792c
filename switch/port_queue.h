#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/core/egress_queue.h"
#include "common/core/regulator.h"
#include "common/dpdk/packet.h"
#include "switch/config.h"
#include "switch/live.h"
#include "switch/queue_tap.h"
#include "switch/report.h"

namespace outrider {

/// What one egress queue has counted. Identity, per class:
/// arrived == transmitted + sum(drops) + resident.
struct QueueCounters {
  PerClass<std::uint64_t> arrived{};
  PerClass<std::uint64_t> transmitted{};
  PerClass<std::uint64_t> transmitted_bytes{};  ///< frame bytes
  PerClass<std::array<std::uint64_t, kDropReasons>> drops{};
  PerClass<std::array<std::uint64_t, kMarkReasons>> marks{};
};

/// One queue of an egress port: admission, marking, regulation, and the records of
/// what bursts met there. The marker and the regulator decide; this is the one place
/// that sets CE, counts and drops.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it.
class PortQueue {
 public:
  using Queue = EgressQueue<Packet*>;

  /// @param tap  limits of the records, or nothing: none are kept
  PortQueue(const PortQueueConfig& config, const std::optional<QueueTap::Limits>& tap);

  /// A START for a burst that will leave through this queue.
  void on_start(const FlowKey& flow, std::uint32_t sequence, std::uint16_t threshold_packets,
                Time now) noexcept {
    if (regulator_) regulator_->on_start(flow, sequence, threshold_packets, now);
  }

  void count_arrival(TrafficClass c) noexcept { ++counters_.arrived[c]; }
  /// What the packet, or a signal that will not wait here, found. @pre records()
  void record_arrival(const Packet& packet, Time now) noexcept;

  /// Takes ownership. @return false if it was dropped
  bool enqueue(Packet* packet, Time now) noexcept;

  /// It waits behind others: the records note what is in the queue now.
  void on_waiting(Time now) noexcept {
    if (tap_) tap_->on_occupancy(queue_.occupancy_packets(), background_threshold(now), now);
  }

  /// The packet whose turn it is; the caller owns it. @pre !empty()
  Queue::Item dequeue(Time now) noexcept;

  /// `item`, of this queue or a signal, occupied the transmitter during [start, finish).
  void on_departure(const Queue::Item& item, Time start, Time finish) noexcept {
    ++counters_.transmitted[item.traffic_class];
    counters_.transmitted_bytes[item.traffic_class] += item.frame_bytes;
    if (tap_) record_departure(item, start, finish);
  }

  void drop(Packet* packet, DropReason reason) noexcept {
    ++counters_.drops[meta(*packet).traffic_class][static_cast<std::size_t>(reason)];
    release(packet);
  }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  [[nodiscard]] std::uint32_t occupancy_packets() const noexcept {
    return queue_.occupancy_packets();
  }
  [[nodiscard]] std::uint32_t head_bytes() const noexcept { return queue_.head().frame_bytes; }
  [[nodiscard]] const QueueCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t live_entries() const noexcept {
    return regulator_ ? regulator_->live_entries() : 0;
  }
  [[nodiscard]] bool records() const noexcept { return tap_ != nullptr; }

  /// Releases what waits. Counted as resident before.
  void flush() noexcept;

  void fill(QueueReport& report, Time now) const;
  void add_to(SwitchLive& live) const noexcept;

 private:
  struct Threshold {
    std::uint32_t packets = 0;
    bool regulated = false;
  };
  [[nodiscard]] Threshold threshold_for(TrafficClass c, Time now) noexcept;
  [[nodiscard]] std::uint32_t background_threshold(Time now) noexcept {
    return threshold_for(TrafficClass::kBackground, now).packets;
  }
  void mark_if_due(Packet& packet, TrafficClass c, Time now) noexcept;
  void record_departure(const Queue::Item& item, Time start, Time finish) noexcept;

  MarkerConfig marker_;
  bool spare_ddl_;
  PerClass<std::uint32_t> initial_threshold_{};
  Queue queue_;
  std::optional<Regulator> regulator_;  ///< unless the mode is off
  std::unique_ptr<QueueTap> tap_;       ///< only if records are kept
  QueueCounters counters_{};
};

}  // namespace outrider
