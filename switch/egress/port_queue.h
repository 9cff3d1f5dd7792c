#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/dpdk/packet.h"
#include "switch/aqm/egress_queue.h"
#include "switch/config/config.h"
#include "switch/egress/queue_marking.h"
#include "switch/egress/queue_part.h"
#include "switch/egress/queue_regulation.h"
#include "switch/egress/reload_change.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// One queue of an egress port: limits, a marker, the regulated threshold, a FIFO, and an ordered
/// list of parts. Marker, regulation and parts decide; this class alone sets CE, counts and drops.
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

  struct Setup {
    Duration packet_time{};  ///< time to send a full frame on the port's link
    BitRate drain_rate{};    ///< of the port
    std::uint64_t seed = 1;
    std::uint32_t entity = 0;  ///< identifies the queue in its random numbers; unique
    SignerShares signers{};    ///< that the regulator sets aside for the switch's signers
  };
  PortQueue(const PortQueueConfig& config, const Setup& setup);
  PortQueue(const PortQueue&) = delete;
  PortQueue& operator=(const PortQueue&) = delete;

  /// Adds a part behind those that are there; it must outlive the last packet. Call it before the
  /// first packet.
  void add(QueuePart& part) noexcept;

  /// Asks the parts anew at which steps they act, after one of them has changed.
  void renew_parts() noexcept;

  /// Handles a START for a burst that will leave through this queue.
  void on_start(const StartSignal& start, Time now) noexcept;
  /// Hears a packet of DDL payload that goes to another queue, whose bursts this one subscribes to.
  /// @param same_port  whether it takes the same link
  void on_elsewhere(Packet& packet, bool same_port, Time now) noexcept;

  void count_arrival(TrafficClass c) noexcept { ++counters_.arrived[c]; }
  /// Shows the parts a packet that has come. @return false if one lost it: it is dropped
  [[nodiscard]] bool arrive(Packet* packet, bool is_signal, Time now) noexcept {
    if (parts_.act_at(Step::kArrive)) [[unlikely]]
      return show_arrival(packet, is_signal, now);
    return true;
  }

  /// Takes ownership of a packet. @return false if it was dropped
  [[nodiscard]] bool enqueue(Packet* packet, Time now) noexcept {
    if (!admit<false>(packet, now)) return false;
    parts_.each(Step::kEnter, [&](QueuePart& part) { part.on_entry(*packet, now); });
    if (parts_.any(Step::kKeep, [&](QueuePart& part) { return part.keeps(packet, now); }))
        [[unlikely]]
      return true;
    const PacketMeta& m = meta(*packet);
    fifo_.push(packet, now, m.frame_bytes, m.traffic_class);
    return true;
  }
  /// Returns whether a packet that finds the queue empty and the transmitter free may pass without
  /// being put in the FIFO: no part has to know of it. It takes a number there all the same.
  [[nodiscard]] bool may_pass() const noexcept { return may_pass_; }
  /// pass_in() and then pass_out() do the same as enqueue() and dequeue() for such a packet. The
  /// caller asks the scheduler between them. Each takes ownership only if it returns false: then it
  /// has dropped the packet. @pre may_pass(), fifo().empty()
  [[nodiscard]] bool pass_in(Packet* packet, Time now) noexcept {
    assert(may_pass_ && fifo_.empty());
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
    parts_.each(Step::kNext, [now](QueuePart& part) { part.on_next(now); });
    if (parts_.act_at(Step::kExit)) [[unlikely]]
      exit(item, now);
    if (marking_.at_dequeue() && !leave(item, now)) item.packet = nullptr;
    return item;
  }
  /// Puts in a packet that a part kept before the FIFO.
  void let_in(const Item& item) noexcept {
    fifo_.put(item.packet, item.enqueued_at, item.frame_bytes, item.traffic_class);
  }

  /// Notes that a packet waits behind others.
  void on_waiting(Time now) noexcept {
    parts_.each(Step::kWait, [now](QueuePart& part) { part.on_waiting(now); });
  }
  /// Counts that a packet, from this queue or a signal, occupies the transmitter.
  void on_departure(Packet* packet, Time enqueued_at, std::uint32_t frame_bytes, TrafficClass c,
                    Time start, Time finish) noexcept {
    ++counters_.transmitted[c];
    counters_.transmitted_bytes[c] += frame_bytes;
    if (parts_.act_at(Step::kDepart)) [[unlikely]]
      show_departure({packet, enqueued_at, frame_bytes, c}, start, finish);
  }

  [[gnu::noinline]] void drop(Packet* packet, DropReason reason) noexcept {
    ++counters_.drops[meta(*packet).traffic_class][reason];
    release(packet);
  }

  [[nodiscard]] const Fifo& fifo() const noexcept { return fifo_; }
  [[nodiscard]] const PartList& parts() const noexcept { return parts_; }
  [[nodiscard]] QueueRegulation& regulation() noexcept { return regulation_; }
  [[nodiscard]] const QueueRegulation& regulation() const noexcept { return regulation_; }
  [[nodiscard]] QueueMarking& marking() noexcept { return marking_; }
  [[nodiscard]] const QueueCounters& counters() const noexcept { return counters_; }
  /// Returns what parts keep before the FIFO.
  [[nodiscard]] Occupancy kept() const noexcept;
  /// Returns what waits, in the FIFO and before it.
  [[nodiscard]] Occupancy waiting() const noexcept;

  /// Releases all waiting packets. Reports made before count them as resident.
  void flush() noexcept;
  /// Drops all waiting packets.
  void discard(DropReason reason, Time now) noexcept;

  /// Brings regulation up to `now`, so that counts(now) allocates nothing.
  void settle(Time now) noexcept;
  [[nodiscard]] QueueCounts counts(Time now) const;

  /// Prepares the change of the queue. A control thread calls it while no other change is under
  /// way. @param setup  of the new configuration. @param new_rate  whether the drain rate changes
  [[nodiscard]] QueueChange prepare(const PartReload& reload, const Setup& setup,
                                    bool new_rate) const;
  /// Swaps in what changes. Waiting packets stay, in order. Allocates and frees nothing: what is no
  /// longer needed is left in `change`.
  void apply(QueueChange& change, Time now) noexcept;

 private:
  /// Passes a packet by regulation, limits and marker. @tparam kEmpty  whether the queue is empty
  template <bool kEmpty>
  [[nodiscard]] bool admit(Packet* packet, Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const TrafficClass c = m.traffic_class;
    if (regulation_.exists()) {  // which all parts need that follow flows
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
  /// Returns what waits before a packet of that class. Background also waits behind what parts
  /// keep.
  [[nodiscard]] Occupancy met_by(TrafficClass c) const noexcept {
    if (parts_.act_at(Step::kKeep) && c == TrafficClass::kBackground) [[unlikely]]
      return waiting();
    return {fifo_.occupancy_packets(), fifo_.occupancy_bytes()};
  }
  // What few packets need is not inlined: the way of the others then saves fewer registers. The
  // functions that take a packet and return bool have dropped it if they return false.
  [[nodiscard, gnu::noinline]] bool show_arrival(Packet* packet, bool is_signal, Time now) noexcept;
  [[gnu::noinline]] void show_departure(Item item, Time start, Time finish) noexcept;
  [[nodiscard, gnu::noinline]] bool find_room(Packet* packet, Time now) noexcept;
  [[nodiscard]] std::optional<DropReason> refusal(const Packet& packet) const noexcept;
  [[gnu::noinline]] void exit(const Item& item, Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool leave(Item item, Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool act_on(Judgement judgement, Packet* packet) noexcept;
  [[gnu::noinline]] void mark(Packet& packet, MarkReason reason) noexcept;

  // Members that every packet touches come first, so that they fill few cache lines.
  Fifo fifo_;
  QueueRegulation regulation_;
  QueueMarking marking_;
  bool may_pass_ = true;
  PartList parts_;
  QueueCounters counters_{};
  std::uint32_t initial_threshold_packets_;
};

}  // namespace outrider::sw
