#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/runtime/event_loop.h"
#include "switch/config/config.h"
#include "switch/egress/announcements.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/make_parts.h"
#include "switch/egress/parts/burst_subscribers.h"
#include "switch/egress/parts/impairments.h"
#include "switch/egress/parts/port_capture.h"
#include "switch/egress/port_grants.h"
#include "switch/egress/port_pauses.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/port_transmitter.h"
#include "switch/egress/reload_change.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

/// An egress port: its queues, what sends their packets, and the parts that all its queues share.
///
/// A packet that arrives passes, in this order: what chooses its queue, its queue's parts,
/// regulation, limits and marker, and the scheduler. Whoever needs more than a test on the way of
/// every packet is a QueuePart.
///
/// Identity, per class: arrived == transmitted + sum(drops) + resident.
/// Not thread-safe: one lcore owns a port and all its state.
class EgressPort {
 public:
  using Limits = PartLimits;

  EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits);
  EgressPort(const EgressPort&) = delete;
  EgressPort& operator=(const EgressPort&) = delete;
  ~EgressPort() { flush(); }

  /// Prepares the change of the port from one configuration to another; returns nullptr if
  /// they are equal. A control thread calls it while no other change is under way.
  /// @param signers  of the new configuration. @param new_signers  whether they may differ
  [[nodiscard]] std::unique_ptr<PortChange> prepare(const SwitchPortConfig& from,
                                                    const SwitchPortConfig& to,
                                                    const SignerShares& signers,
                                                    bool new_signers) const;
  /// Applies a prepared change, see apply_change(). @pre `now` is not before the last packet
  void apply(PortChange& change, Time now) noexcept;

  /// Copies the first bytes of every departing packet to `to`, with the state of its queue.
  /// Call once, before the first packet.
  void capture(PortCapture& to);
  /// Splits the waiting time of data packets that have an owner by what they waited for. Call
  /// once, before the first packet. @pre all packets are from a pool with attribution
  void attribute(std::uint32_t owners);
  /// Has a queue of the same switch hear of the bursts that come to this port, as `hears` of its
  /// regulation says. It must outlive this port's last packet. Call before the first packet.
  void subscribe(PortQueue& queue, bool same_port);

  /// Handles a START for a burst that will leave through queue `queue` of this port.
  void on_start(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    if (grants_ && grants_->hears(queue, start, now)) return grants_->after_packet(now);
    arm(queue, start, now);
  }
  /// Tells the regulators that it concerns of a START: that of its queue, and of subscribers.
  void arm(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    announce(queues_[queue], start, now);
    subscribers_.on_start(queues_[queue], start, now);
  }

  /// Returns whether on_return() must be called for packets that arrive at this port. Fixed
  /// after start-up.
  [[nodiscard]] bool hears_returns() const noexcept { return holds_windows_ || grants_; }
  /// Shows the queues' parts a packet that arrived at this port, parsed and classified, before any
  /// port sends it: the data that it acknowledges may have left through this one. The caller keeps
  /// it.
  void on_return(Packet& packet, Time now) noexcept {
    if (!holds_windows_) [[likely]]
      return;
    transmitter_.serve_until(now);
    for (auto& queue : queues_)
      queue.parts().any(Step::kReturn,
                        [&](QueuePart& part) { return part.on_return(packet, now); });
  }
  /// Returns whether lead_for() may return something. Fixed after start-up.
  [[nodiscard]] bool may_tell_leads() const noexcept { return holds_windows_; }
  /// Returns how long before a burst of that flow, which leaves through this port, a START had
  /// better leave: the longest of what its queues have measured. @pre hears_returns()
  [[nodiscard]] std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept;

  /// Returns what holds answers to STARTs at this port; nullptr: nothing. Fixed after start-up.
  [[nodiscard]] PortGrants* grants() const noexcept { return grants_.get(); }
  /// Obeys a pause frame that arrived at this port.
  void on_pause(const PauseFrame& frame, Time now) noexcept {
    if (pauses_) pauses_->on_frame(frame, now);
  }

  /// Takes ownership of a packet and transmits, queues or drops it. Time does not decrease.
  /// @param packet parsed; its `queue` is one of this port's
  /// @param signal whether it is an admitted signal, which is served first and never marked
  void enqueue(Packet* packet, bool signal, Time now) noexcept;

  [[nodiscard]] PortTransmitter& transmitter() noexcept { return transmitter_; }
  [[nodiscard]] const PortTransmitter& transmitter() const noexcept { return transmitter_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const FixedArray<PortQueue>& queues() const noexcept { return queues_; }
  [[nodiscard]] FixedArray<PortQueue>& queues() noexcept { return queues_; }

  /// Releases all waiting packets and the one in service. Reports made before count them as
  /// resident.
  void flush() noexcept;
  /// Returns the number of waiting packets.
  [[nodiscard]] std::uint64_t resident() const noexcept;
  /// Appends a report for each queue; signals are counted with queue 0.
  void report(std::vector<QueueReport>& reports, Time now) const;
  /// Writes the counters to the port's cells. The owner calls it between two polls. Allocates
  /// nothing.
  void publish(PortCells& to, Time now) noexcept;

 private:
  void enter(PortQueue& queue, Packet* packet, Time now) noexcept;
  [[gnu::noinline]] void choose(Packet* packet, Time now) noexcept;
  [[gnu::noinline]] void take_signal(Packet* packet, Time now) noexcept;
  [[nodiscard]] QueueCounts counts(std::size_t queue, Time now) const;

  // Members that every packet touches come first.
  FixedArray<PortQueue> queues_;
  PortTransmitter transmitter_;
  std::unique_ptr<PortGrants> grants_;  ///< only if a queue grants bursts
  std::unique_ptr<PortPauses> pauses_;  ///< only if a queue is lossless
  Impairments impairments_;
  BurstSubscribers subscribers_;
  std::vector<std::unique_ptr<QueuePart>> parts_;  ///< the queues' other parts
  bool holds_windows_ = false;                     ///< whether a part of some queue acts on returns
  std::uint64_t seed_;
  std::string name_;
};

}  // namespace outrider::sw
