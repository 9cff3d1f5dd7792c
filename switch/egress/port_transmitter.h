#pragma once

#include <cassert>
#include <cstdint>

#include "common/core/time_order.h"
#include "common/dpdk/packet/packet.h"
#include "common/runtime/event_loop.h"
#include "switch/config/config.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/port_output.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/service_order.h"

namespace outrider::sw {

class PortPauses;

/// Sends the packets of a port: takes them from the queues in their ServiceOrder, and from the
/// signals' own queue, which is served before them, and gives them to the PortOutput.
///
/// The drain is exact in packet time: before a packet is judged, everything that would have left by
/// its arrival has left. The packets of a polled batch, which carry interpolated arrival times,
/// therefore see the same occupancies as packets that arrive one by one.
///
/// It is driven in one of two ways. Either an event loop calls fire() when the output becomes
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
  [[nodiscard]] PortOutput& output() noexcept { return output_; }
  [[nodiscard]] const PortOutput& output() const noexcept { return output_; }
  [[nodiscard]] ServiceOrder& order() noexcept { return order_; }
  [[nodiscard]] const ServiceOrder& order() const noexcept { return order_; }
  [[nodiscard]] const PortQueue::Fifo& signals() const noexcept { return signals_; }

  /// Sends everything that would have left by `now`. Whatever reaches the port does so first, so
  /// that its time is the port's.
  [[gnu::always_inline]] void serve_until(Time now) noexcept {
    time_.go_on(now);
    if (output_.free_at() > now) return;
    if (order_.backlogged()) [[unlikely]]
      serve_due(now);
    else output_.hand_over();
  }
  /// Returns whether a packet waits, or a polled port is sending one.
  [[nodiscard]] bool has_work() const noexcept {
    return order_.backlogged() || output_.in_service() != 0;
  }

  /// Returns whether a packet would be sent at once. @pre serve_until()
  [[nodiscard]] bool idle(Time now) const noexcept {
    return output_.free_at() <= now && !order_.backlogged();
  }
  /// Takes ownership of a packet that has arrived at that queue, and sends it without putting it in
  /// the FIFO, or drops it. @pre idle(), queue.parts().may_pass()
  [[gnu::always_inline]] void pass(Packet* packet, PortQueue& queue, Time now) noexcept {
    assert(queue.fifo().empty() && order_.all_open());
    if (!queue.pass_in(packet, now)) return;
    const PacketMeta& m = meta(*packet);
    if (order_.has_several_queues()) [[unlikely]]
      order_.pick_only(queue, m.frame_bytes, now);
    if (!queue.pass_out(packet, now)) return;
    order_.served(queue, m.frame_bytes);
    send(packet, now, m.frame_bytes, m.traffic_class, queue, now);
  }
  /// Sees to a packet that has joined a queue: it leaves when its turn comes, perhaps now.
  /// @param bit  of the queue in the service order
  void on_queued(std::uint32_t bit, PortQueue& queue, Time now) noexcept;
  /// Takes ownership of an admitted signal, which is never marked. @pre serve_until()
  void take_signal(Packet* packet, Time now) noexcept;

  /// Stops queues, which keep what they have and get: bit q of `stopped` says whether queue q is.
  /// The packet in service is not interrupted. @pre !output().polled()
  void stop_queues(QueueMask stopped, Time now) noexcept;
  /// Sends a frame of PortPauses::make_frame() next. @pre !output().polled()
  void send_pause_frame(PortPauses& from, Time now) noexcept;

  Time fire(Time now) noexcept override;
  void prepare() const noexcept override;

  /// Releases the signals and the packet in service. @pre the queues are flushed
  void flush() noexcept;

 private:
  void serve_due(Time now) noexcept;
  [[nodiscard]] bool depart(Time start) noexcept;
  [[nodiscard, gnu::noinline]] Item pop_first(Time start) noexcept;
  void resume(Time now) noexcept;
  /// @param enqueued_at,frame_bytes,c  as of an Item, which would be written to memory
  [[gnu::always_inline]] void send(Packet* packet, Time enqueued_at, std::uint32_t frame_bytes,
                                   TrafficClass c, PortQueue& queue, Time start) noexcept {
    const Time finish = output_.transmit(frame_bytes, start);
    queue.on_departure(packet, enqueued_at, frame_bytes, c, start, finish);
    output_.push(packet, finish);
  }

  // Members that every packet touches come first.
  PortOutput output_;
  ServiceOrder order_;
  PortQueue* queues_;  ///< of the port
  EventLoop& loop_;
  SourceId id_;
  PortQueue::Fifo signals_;
  PortPauses* pauses_ = nullptr;  ///< whose frame waits. @pre order_.pause_frame_waits()
  [[no_unique_address]] TimeOrder time_;
};

}  // namespace outrider::sw
