#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/core/service_clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/parts/impairments.h"
#include "switch/egress/parts/queue_tap.h"
#include "switch/egress/port_queue.h"

namespace outrider::sw {

class PortPauses;

/// Sends the packets of a port. It has the scheduler of the port's queues, the signals' own queue,
/// which is served before them, and the serializer with the port's drain rate, the known
/// bottleneck.
///
/// The drain is exact in packet time: before a packet is judged, everything that would have left by
/// its arrival has left. The packets of a polled batch, which carry interpolated arrival times,
/// therefore see the same occupancies as packets that arrive one by one.
///
/// It is driven in one of two ways. Either an event loop calls fire() when the transmitter becomes
/// free, and a link takes what leaves. Or the port is polled: a poll loop calls serve_until() while
/// has_work(), and a device takes what leaves.
///
/// Not thread-safe: the lcore of the port owns it.
class PortTransmitter final : public EventSource {
 public:
  using Item = PortQueue::Item;

  /// @param queues  of the port, all there before the first packet. It must outlive this, as the
  /// loop
  PortTransmitter(const SwitchPortConfig& config, EventLoop& loop, FixedArray<PortQueue>& queues);

  /// Identifies the port among the sources of its loop.
  [[nodiscard]] SourceId id() const noexcept { return id_; }
  /// Sends departures to `out`. Call once, before the first packet.
  void connect(Link& out) noexcept { out_ = &out; }
  /// Sends departures to `device` and makes the port polled. The device must outlive the last
  /// packet. Call once, before the first packet.
  void connect(DeviceEdge& device) noexcept { device_ = &device; }
  [[nodiscard]] bool polled() const noexcept { return device_ != nullptr; }

  /// Sends everything that would have left by `now`.
  [[gnu::always_inline]] void serve_until(Time now) noexcept {
    if (serializer_.free_at() > now) return;
    if (backlogged()) [[unlikely]]
      serve_due(now);
    else hand_over();
  }
  /// Returns whether a packet waits, or a polled port is sending one.
  [[nodiscard]] bool has_work() const noexcept { return backlogged() || in_service_ != nullptr; }

  /// Takes ownership of a packet of that queue and transmits, queues or drops it. @pre
  /// serve_until()
  [[gnu::always_inline]] void take(Packet* packet, PortQueue& queue, Time now) noexcept {
    if (serializer_.free_at() <= now && !backlogged() && queue.parts().may_pass()) [[likely]]
      return pass(packet, queue, now);
    queue_up(packet, queue, now);
  }
  /// The same for an admitted signal, which is never marked.
  void take_signal(Packet* packet, Time now) noexcept;

  /// Stops queues, which keep what they have and get: bit q of `stopped` says whether queue q is.
  /// The packet in service is not interrupted. @pre !polled()
  void stop_queues(QueueMask stopped, Time now) noexcept;
  /// Sends a frame of PortPauses::make_frame() next. @pre !polled()
  void send_pause_frame(PortPauses& from, Time now) noexcept;

  Time fire(Time now) noexcept override;
  void prepare() const noexcept override;

  /// Applies a reload. @param scheduler  swapped in if it is there
  void change(BitRate rate, RateLayer layer, std::optional<Scheduler>& scheduler) noexcept;

  [[nodiscard]] bool has_several_queues() const noexcept { return several_queues_; }
  /// Returns what leaves before a packet that joins queue `q` now, if nothing else arrives and no
  /// marker drops: found by playing the scheduler on.
  [[nodiscard]] QueueState ahead_of(unsigned q, std::uint32_t frame_bytes, Time now) const noexcept;
  [[nodiscard]] const PortQueue::Fifo& signals() const noexcept { return signals_; }
  /// Returns the packets (0 or 1) that a polled port is sending and has not handed over yet.
  [[nodiscard]] std::uint64_t in_service() const noexcept { return in_service_ != nullptr; }
  /// Returns the number of packets that a polled port has handed to its device.
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_; }
  /// Releases the signals and the packet in service. @pre the queues are flushed
  void flush() noexcept;

 private:
  static constexpr std::uint32_t kSignalBit = 1U << kMaxQueuesPerPort;
  static constexpr std::uint32_t kPauseBit = kSignalBit << 1;

  [[nodiscard]] bool backlogged() const noexcept { return backlog_ != 0; }
  /// Sends a packet that need not wait without putting it in the queue.
  [[gnu::always_inline]] void pass(Packet* packet, PortQueue& queue, Time now) noexcept {
    assert(queue.fifo().empty() && open_ == ~0U);
    if (!queue.pass_in(packet, now)) return;
    const PacketMeta& m = meta(*packet);
    if (several_queues_) [[unlikely]]
      pick_only(queue, m.frame_bytes, now);
    if (!queue.pass_out(packet, now)) return;
    if (several_queues_) [[unlikely]]
      scheduler_.served(number_of(queue), m.frame_bytes);
    send(packet, now, m.frame_bytes, m.traffic_class, queue, now);
  }
  [[gnu::noinline]] void pick_only(const PortQueue& queue, std::uint32_t frame_bytes,
                                   Time now) noexcept;
  [[gnu::noinline]] void queue_up(Packet* packet, PortQueue& queue, Time now) noexcept;
  [[nodiscard]] unsigned number_of(const PortQueue& queue) const noexcept {
    return static_cast<unsigned>(&queue - queues_);
  }
  void wait(std::uint32_t bit, PortQueue& queue, Time now) noexcept;
  void serve_due(Time now) noexcept;
  [[nodiscard]] bool depart(Time start) noexcept;
  [[nodiscard]] unsigned pick(Time now) noexcept;
  [[nodiscard, gnu::noinline]] Item pop_first(Time start) noexcept;
  void resume(Time now) noexcept;
  /// @param enqueued_at,frame_bytes,c  as of an Item, which would be written to memory
  [[gnu::always_inline]] void send(Packet* packet, Time enqueued_at, std::uint32_t frame_bytes,
                                   TrafficClass c, PortQueue& queue, Time start) noexcept {
    const Time finish = serializer_.transmit(frame_bytes, start);
    queue.on_departure(packet, enqueued_at, frame_bytes, c, start, finish);
    assert(out_ != nullptr || device_ != nullptr);
    if (polled()) in_service_ = packet;
    else out_->push(packet, finish);
  }
  void hand_over() noexcept;

  // Members that every packet touches come first.
  Serializer serializer_;
  Packet* in_service_ = nullptr;  ///< if polled: being sent until serializer_.free_at()
  /// Bit q: queue q holds packets and is not stopped; kSignalBit: signals wait; kPauseBit: a pause
  /// frame does
  std::uint32_t backlog_ = 0;
  std::uint32_t open_ = ~0U;      ///< bit q: queue q is not stopped
  bool several_queues_;           ///< whether the scheduler chooses among them
  DeviceEdge* device_ = nullptr;  ///< if polled: takes what leaves
  std::uint64_t handed_over_ = 0;
  PortQueue* queues_;  ///< of the port
  std::size_t queue_count_;
  Scheduler scheduler_;
  Link* out_ = nullptr;
  EventLoop& loop_;
  SourceId id_;
  PortQueue::Fifo signals_;
  PortPauses* pauses_ = nullptr;  ///< whose frame waits. @pre kPauseBit
};

/// Returns the scheduler of a port's configuration.
[[nodiscard]] Scheduler scheduler_of(const SwitchPortConfig& config);

}  // namespace outrider::sw
