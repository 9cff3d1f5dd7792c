#pragma once

#include <cassert>
#include <cstdint>

#include "common/dpdk/packet/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/config/queue_config.h"
#include "switch/egress/queue_marking.h"
#include "switch/egress/queue_outcomes.h"
#include "switch/egress/queue_part.h"
#include "switch/egress/queue_regulation.h"

namespace outrider::sw {

/// One queue of an egress port: limits, a marker, the regulated threshold, a FIFO, and an ordered
/// list of parts. This class is the way of a packet through them; QueueOutcomes acts on what they
/// decide.
///
/// A packet passes regulation, what follows flows, limits and marker, in this order, and then
/// enters the FIFO, or a part that keeps it for now. Most queues have no part that acts at a step,
/// which costs a test; without any, that is the whole way.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it.
class PortQueue {
 public:
  using Fifo = EgressQueue<Packet*>;
  using Item = Fifo::Item;

  /// @param policy  of the queue, see policy_of()
  /// @param stretches  of regulated time that are kept for the report
  PortQueue(const PortQueueConfig& config, const RegulationPolicy& policy, const MarkerSetup& setup,
            std::size_t stretches = 0);
  PortQueue(const PortQueue&) = delete;
  PortQueue& operator=(const PortQueue&) = delete;

  /// Counts a packet that has come, and shows it to the parts. @return false if one lost it: it is
  /// dropped
  [[nodiscard]] bool arrive(Packet* packet, bool is_signal, Time now) noexcept {
    outcomes_.arrived(meta(*packet).traffic_class);
    if (parts_.act_at(Step::kArrive)) [[unlikely]]
      return show_arrival(packet, is_signal, now);
    return true;
  }
  /// Takes ownership of a packet that has arrived. @return false if it was dropped
  [[nodiscard]] bool enqueue(Packet* packet, Time now) noexcept;
  /// pass_in() and then pass_out() do the same as enqueue() and dequeue() for a packet that finds
  /// the queue empty and the transmitter free, without putting it in the FIFO. It takes a number
  /// there all the same. The caller asks the scheduler between them. Each takes ownership only if
  /// it returns false: then it has dropped the packet. @pre parts().may_pass(), fifo().empty()
  [[nodiscard]] bool pass_in(Packet* packet, Time now) noexcept {
    assert(parts_.may_pass() && fifo_.empty());
    if (!admit<true>(packet, now)) return false;
    fifo_.pass_number();
    return true;
  }
  [[nodiscard]] bool pass_out(Packet* packet, Time now) noexcept {
    if (!marking_.at_dequeue()) [[likely]]
      return true;
    return leave({packet, now, meta(*packet).frame_bytes, meta(*packet).traffic_class}, now);
  }
  /// Takes out the first packet; the caller owns it. @pre !fifo().empty()
  /// @return an item without a packet if the marker dropped it: the scheduler must be asked again
  [[nodiscard]] Item dequeue(Time now) noexcept {
    Item item = fifo_.pop();
    if (parts_.keeper() != nullptr) [[unlikely]]
      parts_.keeper()->let_in(now);
    if (parts_.act_at(Step::kExit)) [[unlikely]]
      parts_.exit(item, now);
    if (marking_.at_dequeue() && !leave(item, now)) item.packet = nullptr;
    return item;
  }
  /// Counts that a packet, from this queue or a signal, occupies the transmitter.
  void on_departure(Packet* packet, Time enqueued_at, std::uint32_t frame_bytes, TrafficClass c,
                    Time start, Time finish) noexcept {
    outcomes_.transmitted(c, frame_bytes);
    if (parts_.act_at(Step::kDepart)) [[unlikely]]
      show_departure({packet, enqueued_at, frame_bytes, c}, start, finish);
  }

  /// Returns what waits, in the FIFO and before it.
  [[nodiscard]] Occupancy waiting() const noexcept {
    const Occupancy also = parts_.kept();
    return {fifo_.occupancy_packets() + also.packets, fifo_.occupancy_bytes() + also.bytes};
  }
  [[nodiscard]] const Fifo& fifo() const noexcept { return fifo_; }
  [[nodiscard]] Fifo& fifo() noexcept { return fifo_; }
  /// A part that is added must outlive the last packet; add it before the first one.
  [[nodiscard]] PartList& parts() noexcept { return parts_; }
  [[nodiscard]] const PartList& parts() const noexcept { return parts_; }
  [[nodiscard]] QueueRegulation& regulation() noexcept { return regulation_; }
  [[nodiscard]] const QueueRegulation& regulation() const noexcept { return regulation_; }
  [[nodiscard]] QueueMarking& marking() noexcept { return marking_; }
  [[nodiscard]] const QueueMarking& marking() const noexcept { return marking_; }
  [[nodiscard]] QueueOutcomes& outcomes() noexcept { return outcomes_; }
  [[nodiscard]] const QueueOutcomes& outcomes() const noexcept { return outcomes_; }

 private:
  /// Passes a packet by regulation, limits and marker. @tparam kEmpty  whether the queue is empty
  template <bool kEmpty>
  [[nodiscard]] bool admit(Packet* packet, Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const TrafficClass c = m.traffic_class;
    if (regulation_.exists()) {  // parts at kAdmit are behind it
      regulation_.on_packet(*packet, now);
      parts_.any(Step::kAdmit, [&](QueuePart& part) { return part.on_admission(*packet, now); });
    }
    if constexpr (kEmpty)
      if (marking_.passes_first() && fifo_.admits_first(m.frame_bytes)) [[likely]] {
        marking_.passed_first(c, now);
        return true;
      }
    if (!fifo_.admits(m.frame_bytes) || parts_.act_at(Step::kRoom)) [[unlikely]]
      if (!find_room(packet, now)) return false;
    if (!marking_.at_enqueue()) return true;
    const auto judgement = marking_.enqueued(c, kEmpty ? Occupancy{} : met_by(c), now);
    return judgement == Judgement::kPass || act_on(judgement, packet);
  }
  /// Returns what waits before a packet of that class. Background also waits behind what is
  /// kept before the FIFO.
  [[nodiscard]] Occupancy met_by(TrafficClass c) const noexcept {
    if (parts_.keeper() != nullptr && c == TrafficClass::kBackground) [[unlikely]]
      return waiting();
    return {fifo_.occupancy_packets(), fifo_.occupancy_bytes()};
  }
  // What few packets need is not inlined: the way of the others then saves fewer registers. The
  // functions that take a packet and return bool have dropped it if they return false.
  [[nodiscard, gnu::noinline]] bool show_arrival(Packet* packet, bool is_signal, Time now) noexcept;
  [[gnu::noinline]] void show_departure(Item item, Time start, Time finish) noexcept;
  [[nodiscard, gnu::noinline]] bool find_room(Packet* packet, Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool leave(Item item, Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool act_on(Judgement judgement, Packet* packet) noexcept;

  // Members that every packet touches come first, so that they fill few cache lines.
  Fifo fifo_;
  QueueRegulation regulation_;
  QueueMarking marking_;
  PartList parts_;
  QueueOutcomes outcomes_;
};

}  // namespace outrider::sw
