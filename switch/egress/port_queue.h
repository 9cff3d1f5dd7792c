#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/dpdk/packet.h"
#include "common/net/hop_trace.h"
#include "switch/aqm/egress_queue.h"
#include "switch/aqm/shared_buffer.h"
#include "switch/config/config.h"
#include "switch/egress/flow_steering.h"
#include "switch/egress/lossless_buffer.h"
#include "switch/egress/pace_hold.h"
#include "switch/egress/port_capture.h"
#include "switch/egress/queue_marker.h"
#include "switch/egress/queue_tap.h"
#include "switch/egress/queue_window.h"
#include "switch/egress/reload_change.h"
#include "switch/egress/remote_bottlenecks.h"
#include "switch/forwarding/identify.h"
#include "switch/regulation/regulator.h"
#include "switch/report/report.h"

namespace outrider::sw {

/// One queue of an egress port: admission, marking, regulation, and records of how bursts
/// fared in it. The marker and the regulator only decide; this class alone sets CE, counts
/// and drops.
///
/// Many methods: a packet's way is made of small steps, from which the plain way and the way
/// with records, windows, held packets or a shared buffer are both composed. An object of its
/// own for what few queues have was tried: a free port then took 2.6 % more instructions.
///
/// Time does not decrease. Not thread-safe: the lcore of the egress port owns it.
class PortQueue {
 public:
  using Queue = EgressQueue<Packet*>;

  struct Setup {
    std::optional<QueueTap::Limits> tap{};  ///< limits of the records; absent: none are kept
    Duration packet_time{};                 ///< time to send a full frame on the port's link
    BitRate drain_rate{};                   ///< of the port
    RateLayer rate_layer = RateLayer::kL1;
    std::uint64_t seed = 1;
    std::uint32_t entity = 0;  ///< identifies the queue in its random numbers; unique
    /// Buffer that all queues of the same owner share; must outlive the queue. nullptr: none
    SharedBuffer* buffer = nullptr;
    std::size_t buffer_queue = 0;  ///< this queue's number there
    /// What lossless queues of all ports have brought; must outlive the queue. nullptr: there are
    /// none
    LosslessBuffer* lossless = nullptr;
    std::uint8_t number = 0;  ///< of the queue at its port
    SignerShares signers{};   ///< that the regulator sets aside for the switch's signers
  };
  PortQueue(const PortQueueConfig& config, const Setup& setup);

  /// Prepares the change of the queue from one configuration to another. A control thread calls
  /// it while no other change is under way.
  /// @param setup  of the new configuration. @param new_rate  whether the drain rate changes
  [[nodiscard]] QueueChange prepare(const PortQueueConfig& from, const PortQueueConfig& to,
                                    const Setup& setup, bool new_rate) const;
  /// Swaps in the parts that change. Waiting packets stay, in order. Allocates and frees
  /// nothing: parts that are no longer needed are left in `change`.
  void apply(QueueChange& change, Time now) noexcept;

  /// Handles a START for a burst that will leave through this queue, unless that steers it away.
  /// @param target  queue that bursts are steered to; nullptr: none
  void on_start(const StartSignal& start, const PortQueue* target, Time now) noexcept {
    if (!listens_) return;
    if (beyond_ && beyond_->on_start(start, now)) return;
    if (measures_lead_) measure_lead(start.threshold_packets, now);
    const auto verdict = regulator_->on_start(start, now);
    if (verdict != ArmVerdict::kArmed) return;
    if (steering_) follow(start.flow, *target, now);
    if (!window_) return;
    window_->on_announced(now);
    static_cast<void>(threshold_of_windows(now));
  }
  /// Hears a packet of DDL payload that goes to another queue, whose bursts this one listens to.
  /// @param same_port  whether it takes the same link. Else windows leave it no room there
  void hear_elsewhere(Packet& packet, bool same_port, Time now) noexcept;
  /// Returns the number of the queue that announced bursts are steered to, if the mode steers.
  [[nodiscard]] std::optional<std::uint8_t> steers_to() const noexcept {
    return steering_ ? std::optional(steer_to_) : std::nullopt;
  }
  /// Decides whether an arriving packet of this queue goes to `target` instead. The regulator hears
  /// of the payload of bursts here, of whichever class. @pre steers_to()
  [[nodiscard]] bool steers(const PacketMeta& m, const PortQueue& target, Time now) noexcept;
  /// Returns how long before a burst of that flow a START had better leave, if this queue measures
  /// it and a START for the flow was armed.
  [[nodiscard]] std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept;
  /// Call when an answer was told lead_for() its flow.
  void note_told_lead() noexcept { window_->note_told_lead(); }
  /// Shows the window clamp a packet that arrived at the port, before any port sends it: the
  /// data that it acknowledges may have left through this queue.
  void on_return(Packet& packet, Time now) noexcept {
    if (!window_) [[likely]]
      return;
    if (beyond_ && beyond_->on_return(packet, now)) return;
    window_->on_return(packet, occupancy(), threshold_of_windows(now), now);
  }

  void count_arrival(TrafficClass c) noexcept { ++counters_.arrived[c]; }
  /// Records the queue that an arriving packet found, also a signal, which does not wait here.
  /// @pre records()
  /// @param before  what leaves before it, if that is not what waits in this queue; else nullptr
  void record_arrival(const Packet& packet, const QueueState* before, Time now) noexcept;
  /// Returns whether that record would be the first of the packet's burst. @pre records()
  [[nodiscard]] bool begins_record(const Packet& packet) noexcept;

  /// Returns whether the queue has none of the parts that keep or count packets beside it: no
  /// records, held packets or shared buffer.
  [[nodiscard]] bool plain() const noexcept { return plain_; }

  /// Takes ownership of a packet. @return false if it was dropped
  /// @tparam kPlain  skips the tests for optional parts. @pre plain()
  template <bool kPlain = false>
  [[nodiscard]] bool enqueue(Packet* packet, Time now) noexcept {
    if (!admit<kPlain>(packet, now)) return false;
    const PacketMeta& m = meta(*packet);
    const TrafficClass c = m.traffic_class;
    if constexpr (!kPlain) {
      if (accounts_) [[unlikely]]
        charge(*packet, now);
      if (hold_ != nullptr && c == TrafficClass::kBackground && holds(m, now)) [[unlikely]] {
        hold_->hold(packet, now, m.frame_bytes);
        return true;
      }
    }
    queue_.push(packet, now, m.frame_bytes, c);
    return true;
  }

  /// pass_in() and then pass_out() do the same as enqueue() and dequeue() for a packet that
  /// finds the queue empty and the transmitter free, without touching the queue. The caller
  /// asks the scheduler between them. Each takes ownership only if it returns false: then it
  /// has dropped the packet. @pre plain(), empty()
  [[nodiscard]] bool pass_in(Packet* packet, Time now) noexcept {
    return admit<true, true>(packet, now);
  }
  [[nodiscard]] bool pass_out(Packet* packet, Time now) noexcept {
    if (!judges_at_dequeue_) [[likely]]
      return true;
    return pass_dequeue({packet, now, meta(*packet).frame_bytes, meta(*packet).traffic_class}, now);
  }

  /// Records the occupancy after a packet was queued behind others.
  void on_waiting(Time now) noexcept {
    if (tap_) tap_->on_occupancy(queue_.occupancy_packets(), background_threshold(now), now);
  }

  /// Takes out the first packet; the caller owns it. @pre !empty()
  /// @return an item without a packet if the marker dropped it: the scheduler must be asked again
  template <bool kPlain = false>
  [[nodiscard]] Queue::Item dequeue(Time now) noexcept {
    Queue::Item item = queue_.pop();
    if constexpr (!kPlain) {
      if (hold_ != nullptr && !hold_->empty()) [[unlikely]]
        let_in(now);
      if (accounts_) [[unlikely]]
        discharge(item, now);
    }
    if (judges_at_dequeue_ && !pass_dequeue(item, now)) item.packet = nullptr;
    return item;
  }

  /// Counts and records that `item`, from this queue or a signal, occupies the transmitter
  /// during [start, finish).
  template <bool kPlain = false>
  void on_departure(const Queue::Item& item, Time start, Time finish) noexcept {
    ++counters_.transmitted[item.traffic_class];
    counters_.transmitted_bytes[item.traffic_class] += item.frame_bytes;
    if constexpr (!kPlain)
      if (tap_) record_departure(item, start, finish);
  }

  [[gnu::noinline]] void drop(Packet* packet, DropReason reason) noexcept {
    ++counters_.drops[meta(*packet).traffic_class][reason];
    release(packet);
  }

  /// Sets CE in an ECN-capable packet and counts it; a packet that is not is counted as such.
  [[gnu::noinline]] void mark(Packet& packet, MarkReason reason) noexcept;

  void count_hop(hop_trace::Appended outcome) noexcept {
    counters_.hop_records += outcome == hop_trace::Appended::kYes;
    counters_.hop_records_no_room += outcome == hop_trace::Appended::kNoRoom;
  }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }
  [[nodiscard]] std::uint32_t occupancy_packets() const noexcept {
    return queue_.occupancy_packets();
  }
  /// Returns the packets in the queue and those held before it.
  [[nodiscard]] std::uint32_t waiting_packets() const noexcept {
    return queue_.occupancy_packets() + (hold_ != nullptr ? hold_->packets() : 0);
  }
  /// Returns the packets of DDL data in the queue.
  [[nodiscard]] std::uint32_t burst_packets() const noexcept {
    return queue_.occupancy_by_class()[TrafficClass::kDdl];
  }
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept {
    return queue_.occupancy_bytes() + (hold_ != nullptr ? hold_->bytes() : 0);
  }
  [[nodiscard]] std::uint32_t head_bytes() const noexcept { return queue_.head().frame_bytes; }
  /// Returns the waiting packet that `ahead` others of this queue precede. @pre there is one
  [[nodiscard]] const Queue::Item& behind(std::uint32_t ahead) const noexcept {
    return queue_.behind(ahead);
  }
  [[nodiscard]] const QueueCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::uint32_t live_entries() const noexcept {
    return regulator_ ? regulator_->live_entries() : 0;
  }
  [[nodiscard]] bool regulates() const noexcept { return has_regulator_; }
  /// Returns Regulator::steps(), 0 without a regulator: for tests of what a packet costs.
  [[nodiscard]] std::uint64_t regulator_steps() const noexcept {
    return regulator_ ? regulator_->steps() : 0;
  }
  [[nodiscard]] bool records() const noexcept { return tap_ != nullptr; }

  /// Releases all waiting packets. Reports made before count them as resident.
  void flush() noexcept;
  /// Drops all waiting packets, and from then on those that come, because a pause has lasted too
  /// long; or takes packets again. @pre it is lossless
  void discard(bool all, Time now) noexcept;
  /// Returns since when the first packet waits. @pre !empty()
  [[nodiscard]] Time waits_since() const noexcept { return queue_.head().enqueued_at; }

  /// Returns the queue's state for the capture of a packet that leaves it.
  [[nodiscard]] CaptureNote note(Time now) noexcept {
    return {.at = now,
            .resident_bytes = waiting_bytes(),
            .resident_packets = waiting_packets(),
            .held_packets = hold_ != nullptr ? hold_->packets() : 0,
            .background_threshold_packets = background_threshold(now),
            .entries = live_entries()};
  }

  /// Brings regulation up to `now`, so that counts(now) allocates nothing.
  void settle(Time now) noexcept;
  [[nodiscard]] QueueCounts counts(Time now) const;
  /// Adds the records of its bursts to the report, if records are kept.
  void fill_records(QueueReport& report) const {
    if (tap_) tap_->fill(report);
  }
  /// Adds what it did for each bottleneck beyond the port to the report.
  void fill_beyond(QueueReport& report, Time now) const {
    if (beyond_) report.beyond_by_name = beyond_->reports(now);
  }

  /// Fetches what the departure of the first packet reads.
  void prepare() const noexcept {
    __builtin_prefetch(&counters_, 1);
    if (!queue_.empty()) fetch(*queue_.head().packet);
  }

 private:
  [[nodiscard]] std::uint32_t background_threshold(Time now) noexcept;
  void count_regulation(QueueCounts& n, Time now) const;
  // What few packets need is not inlined: the way of the others then saves fewer registers.
  [[gnu::noinline]] void hear_payload(const PacketMeta& m, Time now) noexcept;
  [[gnu::noinline]] void show_to_window(Packet& packet, Time now) noexcept;
  [[gnu::noinline]] bool show_beyond(Packet& packet, Time now) noexcept;
  /// Returns the regulator's threshold, after telling the window clamp which bursts' regulation
  /// has begun by `now`.
  [[nodiscard]] const std::optional<std::uint16_t>& threshold_of_windows(Time now) noexcept {
    const auto& threshold = regulator_->threshold(now);
    regulator_->tell_begun(
        [this, now](const Regulator::BegunBurst& burst) { tell_window(burst, now); });
    return threshold;
  }
  [[gnu::noinline]] void measure_lead(std::uint16_t h_packets, Time now) noexcept;
  [[gnu::noinline]] void tell_window(const Regulator::BegunBurst& burst, Time now) noexcept;
  void follow(const FlowKey& flow, const PortQueue& target, Time now) noexcept;
  [[nodiscard]] std::optional<DropReason> refusal(const Packet& packet) const noexcept;
  /// Accounts for a packet that waits from now on, and for one that no longer does.
  [[gnu::noinline]] void charge(const Packet& packet, Time now) noexcept;
  [[gnu::noinline]] void discharge(const Queue::Item& item, Time now) noexcept;
  // The functions below that take a packet and return bool take ownership of it if they return
  // false: they have dropped it.
  [[nodiscard, gnu::noinline]] bool find_room(Packet* packet, Time now) noexcept;
  /// Lets in held packets that may enter; returns whether a further background packet must wait
  /// behind those that remain. Acknowledgments have the floor first: the flows that wait for them
  /// send the other way, where this queue's burst is not.
  [[nodiscard]] bool holds(const PacketMeta& m, Time now) noexcept {
    let_in(now);
    return (!hold_->empty() && !is_bare_ack(m)) ||
           !hold_->admits(m.frame_bytes, queue_.occupancy_packets(), regulator_->threshold(now),
                          now);
  }
  void let_in(Time now) noexcept { let_in(now, regulator_->threshold(now)); }
  void let_in(Time now, std::optional<std::uint16_t> target) noexcept;
  /// Passes a packet by regulator, window clamp, limits and marker, in this order. Does not put
  /// it in the queue.
  /// @tparam kEmpty  whether the queue is empty. @pre kPlain
  template <bool kPlain, bool kEmpty = false>
  [[nodiscard]] bool admit(Packet* packet, Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const TrafficClass c = m.traffic_class;
    if (has_regulator_) {
      if (c == TrafficClass::kDdl && m.payload_bytes > 0 && regulator_->concerns(m.flow, now))
          [[unlikely]]
        hear_payload(m, now);
      if (window_) [[unlikely]]
        show_to_window(*packet, now);
    }
    if constexpr (kEmpty)
      if (empty_passes_ && queue_.admits_first(m.frame_bytes)) [[likely]] {
        // No threshold is 0, so none marks here. Asked, the regulator does what is due.
        if (marks_low_) static_cast<void>(reaches_low(c, 0, now));
        return true;
      }
    if (!queue_.admits(m.frame_bytes) || (!kPlain && shares_room_)) [[unlikely]]
      if (!find_room(packet, now)) return false;
    if (!judges_at_enqueue_) return true;
    const Occupancy met = kEmpty ? Occupancy{} : kPlain ? occupancy() : met_by(c);
    return pass_enqueue(packet, c, met, now);
  }
  [[nodiscard]] bool pass_enqueue(Packet* packet, TrafficClass c, Occupancy met,
                                  Time now) noexcept {
    const MarkVerdict own = marker_.at_enqueue(c, met, now);
    if (own != MarkVerdict::kPass) [[unlikely]]
      return act_on(own, packet);
    if (marks_low_ && mark_at_ == MarkAt::kEnqueue && reaches_low(c, met.packets, now))
      judge_low(*packet, now);
    return true;
  }
  /// Returns false if judge_low() would certainly not mark. Saves that call for most packets.
  [[nodiscard]] bool reaches_low(TrafficClass c, std::uint32_t met_packets, Time now) noexcept {
    if (spare_ddl_ && c == TrafficClass::kDdl) [[unlikely]]
      return false;
    const auto& threshold = regulator_->threshold(now);
    return threshold && met_packets >= *threshold;
  }
  [[nodiscard, gnu::noinline]] bool pass_dequeue(const Queue::Item& item, Time now) noexcept;
  [[nodiscard, gnu::noinline]] bool act_on(MarkVerdict verdict, Packet* packet) noexcept;
  [[nodiscard]] bool regulated_mark(const Packet& packet, Time now) noexcept;
  /// Marks a packet that the marker let pass if the regulated threshold says so.
  [[gnu::noinline]] void judge_low(Packet& packet, Time now) noexcept;
  /// Returns the occupancy before a packet of that class. Background also waits behind held
  /// packets.
  [[nodiscard]] Occupancy met_by(TrafficClass c) const noexcept {
    if (hold_ == nullptr || c != TrafficClass::kBackground) [[likely]]
      return occupancy();
    return {waiting_packets(), queue_.occupancy_bytes() + hold_->bytes()};
  }
  [[nodiscard]] Occupancy occupancy() const noexcept {
    return {queue_.occupancy_packets(), queue_.occupancy_bytes()};
  }
  [[nodiscard]] bool judges_at(MarkAt at) const noexcept;
  void follow(const PortQueueConfig& config) noexcept;
  void follow_parts() noexcept;
  void make_windows(const PortQueueConfig& config, const Setup& setup);
  void change_regulation(QueueChange& change, Time now) noexcept;
  void record_departure(const Queue::Item& item, Time start, Time finish) noexcept;

  // Members that every packet touches come first, so that they fill few cache lines.
  Queue queue_;
  bool plain_ = false;
  bool has_regulator_ = false;
  bool listens_;            ///< hears STARTs: the mode is not off
  bool window_alone_;       ///< mode `window`: h marks only flows that the clamp cannot hold
  bool marks_low_;          ///< the mode marks at the regulated threshold
  bool shares_room_;        ///< held packets or other queues use its room as well
  bool accounts_;           ///< its packets count in the shared buffer, or in that of lossless ones
  bool judges_at_enqueue_;  ///< false: no packet is marked or dropped by AQM at enqueue
  bool judges_at_dequeue_;
  bool empty_passes_;  ///< the marker lets pass what finds the queue empty; none judges at dequeue
  bool drops_not_ect_;
  bool spare_ddl_;
  MarkAt mark_at_;
  QueueMarker marker_;
  QueueCounters counters_{};
  std::unique_ptr<QueueWindow> window_;        ///< only if the mode holds windows
  std::unique_ptr<RemoteBottlenecks> beyond_;  ///< only with window_, and if some are named
  std::unique_ptr<PaceHold> hold_;             ///< only if the mode paces
  std::unique_ptr<FlowSteering> steering_;     ///< only if the mode steers
  std::unique_ptr<QueueTap> tap_;              ///< only if records are kept
  SharedBuffer* buffer_;
  std::size_t buffer_queue_;
  LosslessBuffer* lossless_;
  std::uint8_t number_;
  bool discards_ = false;  ///< see discard()
  std::uint32_t initial_threshold_packets_;
  bool measures_lead_ = false;          ///< `lead` is "auto". @pre window_
  double standing_packets_ = 0;         ///< for measure_lead()
  std::uint8_t steer_to_ = 0;           ///< @pre steering_
  PaceCounters paced_{};                ///< while hold_ is nullptr: counters of the last one
  std::optional<Regulator> regulator_;  ///< absent if the mode has always been off
};

}  // namespace outrider::sw
