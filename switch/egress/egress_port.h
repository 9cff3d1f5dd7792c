#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/dpdk/packet/packet.h"
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
#include "switch/egress/port_report.h"
#include "switch/egress/port_returns.h"
#include "switch/egress/port_transmitter.h"
#include "switch/egress/reload_change.h"

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

  /// Copies the first bytes of every departing packet to `to`, with the state of its queue.
  /// Call once, before the first packet.
  void capture(PortCapture& to);
  /// Splits the waiting time of data packets that have an owner by what they waited for. Call
  /// once, before the first packet. @pre all packets are from a pool with attribution
  void attribute(std::uint32_t owners);
  /// Has the bursts that come to this port announced to a queue of the same switch too, as
  /// `hears` of that queue's regulation says. It must outlive this port's last packet. Call before
  /// the first packet.
  void subscribe(PortQueue& queue, bool same_port);

  /// Takes ownership of a packet and transmits, queues or drops it. Time does not decrease.
  /// @param packet parsed; its `queue` is one of this port's
  /// @param signal whether it is an admitted signal, which is served first and never marked
  void enqueue(Packet* packet, bool signal, Time now) noexcept;

  /// Handles a START for a burst that will leave through queue `queue` of this port.
  void on_start(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    if (grants_ && grants_->defers(queue, start, now)) return grants_->after_packet(now);
    arm(queue, start, now);
  }
  /// Tells the regulators that it concerns of a START: that of its queue, and of subscribers.
  void arm(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    announce(queues_[queue], start, now);
    subscribers_.on_start(queues_[queue], start, now);
  }

  [[nodiscard]] PortReturns& returns() noexcept { return *returns_; }
  // Counters, reports, reloads and the end of the run reach all parts alike, through the queues.
  // The following two are asked for packets that pass no queue of the port, so for no step of a
  // part.

  /// Returns what keeps ACKs of STARTs at this port until their bursts fit; nullptr: nothing. Fixed
  /// after start-up. Such an ACK comes in by the port and leaves by another: whoever shows it gives
  /// it away, and a poll loop has to ask for it, as time alone may let it pass.
  [[nodiscard]] PortGrants* grants() const noexcept { return grants_.get(); }
  /// Returns what pauses the neighbour and obeys it; nullptr: no queue is lossless. A pause frame
  /// that comes in is for the port alone.
  [[nodiscard]] PortPauses* pauses() const noexcept { return pauses_.get(); }
  [[nodiscard]] PortTransmitter& transmitter() noexcept { return transmitter_; }
  [[nodiscard]] const PortTransmitter& transmitter() const noexcept { return transmitter_; }
  [[nodiscard]] FixedArray<PortQueue>& queues() noexcept { return queues_; }
  [[nodiscard]] const FixedArray<PortQueue>& queues() const noexcept { return queues_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Prepares the change of the port from one configuration to another; returns nullptr if
  /// they are equal. A control thread calls it while no other change is under way.
  /// @param signers  of the new configuration. @param new_signers  whether they may differ
  [[nodiscard]] std::unique_ptr<PortChange> prepare(const SwitchPortConfig& from,
                                                    const SwitchPortConfig& to,
                                                    const SignerShares& signers,
                                                    bool new_signers) const;
  /// Applies a prepared change, see apply_change(). @pre `now` is not before the last packet
  void apply(PortChange& change, Time now) noexcept;

  /// Releases all waiting packets and the one in service. Reports made before count them as
  /// resident.
  void flush() noexcept;

 private:
  void enter(PortQueue& queue, Packet* packet, Time now) noexcept;
  // What few packets need is not inlined.
  [[gnu::noinline]] void queue_up(PortQueue& queue, Packet* packet, Time now) noexcept;
  [[gnu::noinline]] void choose(Packet* packet, Time now) noexcept;
  [[gnu::noinline]] void take_signal(Packet* packet, Time now) noexcept;

  // Members that every packet touches come first.
  FixedArray<PortQueue> queues_;
  PortTransmitter transmitter_;
  std::unique_ptr<PortGrants> grants_;  ///< only if a queue grants bursts
  std::unique_ptr<PortPauses> pauses_;  ///< only if a queue is lossless
  Impairments impairments_;
  BurstSubscribers subscribers_;
  std::vector<std::unique_ptr<QueuePart>> parts_;  ///< the queues' other parts
  std::optional<PortReturns> returns_;             ///< there once the parts are
  std::uint64_t seed_;
  std::string name_;
};

}  // namespace outrider::sw
