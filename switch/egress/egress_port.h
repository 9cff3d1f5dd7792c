#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/aqm/egress_queue.h"
#include "common/aqm/scheduler.h"
#include "common/core/random.h"
#include "common/core/service_clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/config/config.h"
#include "switch/egress/hop_recorder.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_tap.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

/// Everything behind "forward to this port": its queues, the signals' own queue served
/// before them, and the drain rate, which is the one known bottleneck.
///
/// The drain is exact in packet time: before a packet is judged, everything
/// that would have left by its arrival has left. So a poll's batch, whose
/// packets carry interpolated arrival times, sees the same occupancies as
/// packets that come one by one.
///
/// An event loop calls it when its transmitter becomes free, and a link takes what
/// leaves; or, polled, whoever polls calls serve_until() while has_work(), and a device
/// takes it.
///
/// A polled port that is spared what few ports have (see is_plain()) takes a packet by the
/// same steps without asking at each of them; a test compares both ways.
///
/// Identity, per class: arrived == transmitted + sum(drops) + resident.
/// Not thread-safe: one lcore owns a port and all its state.
class EgressPort final : public EventSource {
 public:
  struct Limits {
    QueueTap::Limits tap;
    std::uint64_t seed = 1;             ///< of the ports' injected loss and random markers
    SharedBuffer* buffer = nullptr;     ///< of the switch; nullptr: none
    std::size_t first_queue = 0;        ///< number of this port's queue 0 in the buffer
    std::optional<HopRecorder> hops{};  ///< nothing: probes pass as they are
  };
  EgressPort(const SwitchPortConfig& config, EventLoop& loop, const Limits& limits);
  EgressPort(const EgressPort&) = delete;
  EgressPort& operator=(const EgressPort&) = delete;
  ~EgressPort() { flush(); }

  /// What takes the port from one configuration to another; nullptr: nothing does. For a
  /// control thread, while no other change is under way.
  [[nodiscard]] std::unique_ptr<PortChange> prepare(const SwitchPortConfig& from,
                                                    const SwitchPortConfig& to) const;
  /// See PortQueue::apply(). @pre `now` is not before the last packet
  void apply(PortChange& change, Time now) noexcept;

  /// Where departures go. Once, before the first packet.
  void connect(Link& out) noexcept { out_ = &out; }
  /// The same, polled. The device must outlive the port's last packet.
  void connect(DeviceEdge& device) noexcept {
    device_ = &device;
    plain_ = is_plain();
  }
  /// Copies the beginning of what leaves there, with the state of its queue. Once, before
  /// the first packet.
  void capture(PortCapture& to) noexcept {
    capture_ = &to;
    plain_ = is_plain();
  }
  /// Splits the waiting time of data packets with an owner. Once, before the first
  /// packet. @pre all packets are of a pool with attribution
  void attribute(std::uint32_t owners) {
    service_ = std::make_unique<ServiceClock>(owners);
    plain_ = is_plain();
  }

  /// A START for a burst that will leave through queue `queue` of this port.
  void on_start(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    queues_[queue].on_start(start, now);
  }

  /// Does on_return() want to see what comes in by this port? Fixed after start-up.
  [[nodiscard]] bool hears_returns() const noexcept { return holds_windows_; }
  /// A packet that came in by this port, parsed and classified; it stays the caller's.
  void on_return(Packet& packet, Time now) noexcept {
    if (!holds_windows_) [[likely]]
      return;
    serve_until(now);
    for (auto& queue : queues_) queue.on_return(packet, now);
  }

  /// Takes ownership: transmits, queues or drops. Time does not decrease.
  /// @param packet parsed; its `queue` is one of this port's
  /// @param signal the packet is an admitted signal: served first, never marked
  void enqueue(Packet* packet, bool signal, Time now) noexcept {
    if (plain_) enqueue_plain(packet, signal, now);
    else enqueue_any(packet, signal, now);
  }

  /// Lets everything leave that would have left by `now`.
  void serve_until(Time now) noexcept {
    if (serializer_.free_at() <= now && has_work()) serve_due<false>(now);
  }
  /// Does anything wait, or is it being sent by a polled port?
  [[nodiscard]] bool has_work() const noexcept { return backlogged() || in_service_ != nullptr; }

  Time fire(Time now) noexcept override;

  /// Releases what waits and what is in service. Counted as resident before.
  void flush() noexcept;

  /// Packets that wait.
  [[nodiscard]] std::uint64_t resident() const noexcept;
  /// Packets that a polled port has begun to send and not handed over yet.
  [[nodiscard]] std::uint64_t in_service() const noexcept { return in_service_ != nullptr; }
  /// Packets handed to the device of a polled port.
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::span<const PortQueue> queues() const noexcept { return queues_; }

  /// Appends a report of each queue; signals are counted with queue 0.
  void report(std::vector<QueueReport>& reports, Time now) const;
  /// Hands the counters out. Its owner, between two polls; allocates nothing.
  void publish(PortCells& to, Time now) noexcept;

 private:
  using Queue = PortQueue::Queue;

  /// Of the first queue.
  [[nodiscard]] PortQueue::Setup setup_of(const SwitchPortConfig& config) const;
  [[nodiscard]] QueueCounts counts(std::size_t queue, Time now) const;

  /// Every packet takes a draw, so that which are lost does not depend on the queue.
  [[nodiscard]] bool loses_next() noexcept {
    return loss_below_ != 0 && loss_.next_u32() < loss_below_;
  }
  [[nodiscard]] bool backlogged() const noexcept { return backlog_ != 0; }
  /// Polled, and nothing on the way asks for more than the queues: no attribution, injected
  /// loss, capture or hop records here, nothing beside step, scheduler and regulator there.
  [[nodiscard]] bool is_plain() const noexcept;
  void enqueue_plain(Packet* packet, bool signal, Time now) noexcept;
  void enqueue_any(Packet* packet, bool signal, Time now) noexcept;
  void pass_through(Packet* packet, unsigned q, Time now) noexcept;
  [[nodiscard]] bool enqueue_signal(Packet* packet, Time now) noexcept;
  void begin_wait(Packet& packet, Time now) noexcept;
  void end_wait(Packet& packet, Time start) noexcept;
  template <bool kPlain>
  void serve_due(Time now) noexcept;
  template <bool kPlain>
  [[nodiscard]] bool depart(Time start) noexcept;
  [[nodiscard]] unsigned pick(Time now) noexcept;
  template <bool kPlain>
  void send(const Queue::Item& item, PortQueue& queue, Time start) noexcept;
  void observe(const Queue::Item& item, PortQueue& queue, Time start) noexcept;
  void hand_over() noexcept;
  void wake_at(Time at) noexcept;

  static constexpr std::uint32_t kSignalBit = 1U << kMaxQueuesPerPort;

  // What every packet touches comes first.
  Serializer serializer_;
  Packet* in_service_ = nullptr;  ///< polled: on the wire until serializer_.free_at()
  std::uint32_t backlog_ = 0;     ///< bit q: queue q holds packets; kSignalBit: signals do
  bool plain_ = false;            ///< is_plain(), as of now
  bool holds_windows_ = false;    ///< of some queue
  DeviceEdge* device_ = nullptr;  ///< polled: takes what leaves
  std::uint64_t handed_over_ = 0;
  std::vector<PortQueue> queues_;
  Scheduler scheduler_;
  Link* out_ = nullptr;
  EventLoop& loop_;
  SourceId id_;
  Queue signals_;
  std::uint64_t seed_;
  RandomStream loss_;
  std::uint64_t loss_below_;  ///< of 2^32; 0: nothing is lost
  std::optional<HopRecorder> hops_;
  PortCapture* capture_ = nullptr;         ///< only if somebody wants one
  std::unique_ptr<ServiceClock> service_;  ///< only with attribution
  std::string name_;
  BitRate drain_rate_;
};

}  // namespace outrider::sw
