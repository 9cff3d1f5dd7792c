#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/core/random.h"
#include "common/core/service_clock.h"
#include "common/core/units.h"
#include "common/dpdk/packet.h"
#include "common/runtime/device_edge.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "switch/aqm/egress_queue.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/hop_recorder.h"
#include "switch/egress/numbered_packets.h"
#include "switch/egress/port_grants.h"
#include "switch/egress/port_pauses.h"
#include "switch/egress/port_queue.h"
#include "switch/egress/queue_tap.h"
#include "switch/report/report.h"
#include "switch/report/snapshots.h"

namespace outrider::sw {

/// An egress port: its queues, the signals' own queue, which is served before them, and the
/// serializer with the port's drain rate, which is the known bottleneck.
///
/// The drain is exact in packet time: before a packet is judged, everything that would have
/// left by its arrival has left. The packets of a polled batch, which carry interpolated
/// arrival times, therefore see the same occupancies as packets that arrive one by one.
///
/// A port is driven in one of two ways. Either an event loop calls fire() when the transmitter
/// becomes free, and a link takes what leaves. Or the port is polled: a poll loop calls
/// serve_until() while has_work(), and a device takes what leaves.
///
/// Most polled ports have none of the rarer parts (see is_plain()). They take a packet by
/// the same steps but skip the test for each of these parts. A test compares both ways.
///
/// Many methods: what few ports have (windows, grants, hearers, capture) is asked for and told one
/// by one, so that the others pay for none of it.
///
/// Identity, per class: arrived == transmitted + sum(drops) + resident.
/// Not thread-safe: one lcore owns a port and all its state.
class EgressPort final : public EventSource {
 public:
  struct Limits {
    QueueTap::Limits tap;
    std::uint64_t seed = 1;              ///< for the ports' injected loss and random markers
    SharedBuffer* buffer = nullptr;      ///< the switch's shared buffer; nullptr: none
    std::size_t first_queue = 0;         ///< number of this port's queue 0 in the buffer
    std::optional<HopRecorder> hops{};   ///< absent: probes pass unchanged
    SignerShares signers{};              ///< of the switch's signers, at each regulated queue
    LosslessBuffer* lossless = nullptr;  ///< the switch's; nullptr: no port has a lossless queue
    std::uint16_t number = 0;            ///< of the port at its switch
  };
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
  /// Applies a prepared change, see PortQueue::apply(). @pre `now` is not before the last packet
  void apply(PortChange& change, Time now) noexcept;

  /// Sends departures to `out`. Call once, before the first packet.
  void connect(Link& out) noexcept { out_ = &out; }
  /// Sends departures to `device` and makes the port polled. The device must outlive the
  /// port's last packet. Call once, before the first packet.
  void connect(DeviceEdge& device) noexcept {
    device_ = &device;
    plain_ = is_plain();
  }
  /// Copies the first bytes of every departing packet to `to`, with the state of its queue.
  /// Call once, before the first packet.
  void capture(PortCapture& to) noexcept {
    capture_ = &to;
    plain_ = is_plain();
  }
  /// Splits the waiting time of data packets that have an owner by what they waited for. Call
  /// once, before the first packet. @pre all packets are from a pool with attribution
  void attribute(std::uint32_t owners) {
    service_ = std::make_unique<ServiceClock>(owners);
    plain_ = is_plain();
  }

  /// Has a queue of the same switch hear of the bursts that come to this port, as `hears` of its
  /// regulation says. It must outlive this port's last packet. Call before the first packet.
  void tell(PortQueue& queue, bool same_port) {
    hearers_.push_back({&queue, same_port});
    tells_ = true;
    plain_ = is_plain();
  }
  /// Handles a START for a burst that will leave through queue `queue` of this port.
  void on_start(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    if (grants_ && grants_->hears(queue, start, now)) return after_grants(now);
    arm(queue, start, now);
  }
  /// Tells the queue's regulator of a START.
  void arm(std::uint8_t queue, const StartSignal& start, Time now) noexcept {
    PortQueue& own = queues_[queue];
    const auto target = own.steers_to();
    own.on_start(start, target ? &queues_[*target] : nullptr, now);
    for (const auto& hearer : hearers_)
      if (hearer.queue != &own) hearer.queue->on_start(start, nullptr, now);
  }

  /// Returns whether on_return() must be called for packets that arrive at this port. Fixed
  /// after start-up.
  [[nodiscard]] bool hears_returns() const noexcept { return holds_windows_ || grants_; }
  /// Shows the windows of this port a packet that arrived at it, parsed and classified. The
  /// caller keeps the packet.
  void on_return(Packet& packet, Time now) noexcept {
    if (!holds_windows_) [[likely]]
      return;
    serve_until(now);
    for (auto& queue : queues_) queue.on_return(packet, now);
  }

  /// Returns how long before a burst of that flow, which leaves through this port, a START had
  /// better leave: the longest of what its queues have measured. @pre hears_returns()
  [[nodiscard]] std::optional<Duration> lead_for(const FlowKey& flow, Time now) noexcept {
    std::optional<Duration> longest;
    for (auto& queue : queues_) {
      const auto lead = queue.lead_for(flow, now);
      if (!lead) continue;
      queue.note_told_lead();
      longest = std::max(longest.value_or(*lead), *lead);
    }
    return longest;
  }
  /// Returns whether lead_for() may return something. Fixed after start-up.
  [[nodiscard]] bool may_tell_leads() const noexcept { return holds_windows_; }

  /// Returns whether answers to STARTs may have to wait at this port. Fixed after start-up.
  [[nodiscard]] bool grants() const noexcept { return grants_ != nullptr; }
  /// Returns answers to `sink`. Call it once, before the first packet. @pre grants()
  void connect(AnswerSink& sink) noexcept { grants_->connect(sink); }
  /// Takes an answer that arrived at this port, if it has to wait. @param out  its egress port
  /// @return whether it took ownership. @pre grants()
  [[nodiscard]] bool take_answer(const StartAnswer& answer, Packet* packet, std::uint16_t out,
                                 Time now) noexcept {
    serve_until(now);
    const bool taken = grants_->take(answer, packet, out, now);
    after_grants(now);
    return taken;
  }
  /// Lets answers pass that may. A poll loop calls it in every poll. @return how many passed
  /// @pre grants(), polled()
  std::uint32_t pass_answers(Time now) noexcept {
    serve_until(now);
    return grants_->pass(now);
  }
  [[nodiscard]] bool polled() const noexcept { return device_ != nullptr; }

  /// Obeys a pause frame that arrived at this port.
  void on_pause(const PauseFrame& frame, Time now) noexcept {
    if (pauses_) pauses_->on_frame(frame, now);
  }
  /// Stops queues, which keep what they have and get: bit q of `stopped` says whether queue q is.
  /// The packet in service is not interrupted. @pre !polled()
  void stop_queues(QueueMask stopped, Time now) noexcept;
  /// Sends a frame of PortPauses::make_frame() next. @pre !polled()
  void send_pause_frame(Time now) noexcept;

  /// Takes ownership of a packet and transmits, queues or drops it. Time does not decrease.
  /// @param packet parsed; its `queue` is one of this port's
  /// @param signal whether it is an admitted signal, which is served first and never marked
  void enqueue(Packet* packet, bool signal, Time now) noexcept {
    if (plain_) enqueue_plain(packet, signal, now);
    else if (grants_) enqueue_granted(packet, signal, now);
    else enqueue_any(packet, signal, now);
  }

  /// Sends everything that would have left by `now`.
  [[gnu::always_inline]] void serve_until(Time now) noexcept {
    if (!(serializer_.free_at() <= now && has_work())) return;
    if (plain_) [[likely]]
      serve_due<true>(now);
    else serve_due<false>(now);
  }
  /// Returns whether a packet waits, or a polled port is sending one.
  [[nodiscard]] bool has_work() const noexcept { return backlogged() || in_service_ != nullptr; }

  Time fire(Time now) noexcept override;
  void prepare() const noexcept override {
    queues_.front().prepare();
    __builtin_prefetch(out_, 1);
  }

  /// Releases all waiting packets and the one in service. Reports made before count them as
  /// resident.
  void flush() noexcept;

  /// Returns the number of waiting packets.
  [[nodiscard]] std::uint64_t resident() const noexcept;
  /// Returns the answers to STARTs that wait.
  [[nodiscard]] std::uint64_t held_answers() const noexcept {
    return grants_ ? grants_->held() : 0;
  }
  /// Returns the packets (0 or 1) that a polled port is sending and has not handed over yet.
  [[nodiscard]] std::uint64_t in_service() const noexcept { return in_service_ != nullptr; }
  /// Returns the number of packets that a polled port has handed to its device.
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_; }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::span<const PortQueue> queues() const noexcept { return queues_; }
  /// For tell(). @pre index < queues().size()
  [[nodiscard]] PortQueue& queue(std::size_t index) noexcept { return queues_[index]; }

  /// Appends a report for each queue; signals are counted with queue 0.
  void report(std::vector<QueueReport>& reports, Time now) const;
  /// Writes the counters to the port's cells. The owner calls it between two polls. Allocates
  /// nothing.
  void publish(PortCells& to, Time now) noexcept;

 private:
  using Queue = PortQueue::Queue;

  [[nodiscard]] QueueCounts counts(std::size_t queue, Time now) const;

  [[nodiscard]] bool backlogged() const noexcept { return backlog_ != 0; }
  /// Returns whether the port is polled and has none of the rarer parts: no attribution, injected
  /// loss or marks, steering, hearers, grants, capture or hop records, and only queues that are
  /// PortQueue::plain().
  [[nodiscard]] bool is_plain() const noexcept;
  void enqueue_plain(Packet* packet, bool signal, Time now) noexcept;
  void enqueue_any(Packet* packet, bool signal, Time now) noexcept;
  [[nodiscard, gnu::noinline]] NumberedPackets::Verdict impairment_of(const PacketMeta& m) noexcept;
  [[gnu::noinline]] void tell_hearers(Packet& packet, Time now) noexcept;
  void enqueue_granted(Packet* packet, bool signal, Time now) noexcept;
  void after_grants(Time now) noexcept {
    if (!polled()) grants_->pass(now);
  }
  void pass_through(Packet* packet, unsigned q, Time now) noexcept;
  [[gnu::noinline]] void queue_up(Packet* packet, bool signal, Time now) noexcept;
  [[nodiscard]] bool enqueue_signal(Packet* packet, Time now) noexcept;
  void begin_wait(Packet& packet, Time now) noexcept;
  void end_wait(Packet& packet, Time start) noexcept;
  template <bool kPlain>
  void serve_due(Time now) noexcept;
  template <bool kPlain>
  [[nodiscard]] bool depart(Time start) noexcept;
  [[nodiscard]] unsigned pick(Time now) noexcept;
  [[nodiscard, gnu::noinline]] Queue::Item pop_first(Time start) noexcept;
  void resume(Time now) noexcept;
  template <bool kPlain>
  void send(const Queue::Item& item, PortQueue& queue, Time start) noexcept;
  void observe(const Queue::Item& item, PortQueue& queue, Time start) noexcept;
  void hand_over() noexcept;

  /// A queue that hears of the bursts that come to this port.
  struct Hearer {
    PortQueue* queue;
    bool same_port;
  };

  static constexpr std::uint32_t kSignalBit = 1U << kMaxQueuesPerPort;
  static constexpr std::uint32_t kPauseBit = kSignalBit << 1;

  // Members that every packet touches come first.
  Serializer serializer_;
  Packet* in_service_ = nullptr;  ///< if polled: being sent until serializer_.free_at()
  /// Bit q: queue q holds packets and is not stopped; kSignalBit: signals wait; kPauseBit: a pause
  /// frame does
  std::uint32_t backlog_ = 0;
  std::uint32_t open_ = ~0U;      ///< bit q: queue q is not stopped
  bool several_queues_ = false;   ///< whether the scheduler chooses among them
  bool plain_ = false;            ///< the latest result of is_plain()
  bool holds_windows_ = false;    ///< whether the mode of some queue holds windows
  bool steers_ = false;           ///< whether the mode of some queue steers bursts to another
  bool impairs_ = false;          ///< whether some packets are lost or marked on purpose
  bool tells_ = false;            ///< whether there are hearers
  DeviceEdge* device_ = nullptr;  ///< if polled: takes what leaves
  std::uint64_t handed_over_ = 0;
  std::vector<PortQueue> queues_;
  Scheduler scheduler_;
  Link* out_ = nullptr;
  EventLoop& loop_;
  SourceId id_;
  Queue signals_;
  std::uint64_t seed_;
  RandomStream loss_;
  std::uint64_t loss_below_;  ///< a packet is lost if its 32-bit draw is below; 0: none is
  NumberedPackets numbered_;
  std::vector<Hearer> hearers_;  ///< empty unless `hears` of some queue names more than itself
  std::optional<HopRecorder> hops_;
  PortCapture* capture_ = nullptr;         ///< only if the port is captured
  std::unique_ptr<ServiceClock> service_;  ///< only with attribution
  std::unique_ptr<PortGrants> grants_;     ///< only if a queue grants bursts
  std::unique_ptr<PortPauses> pauses_;     ///< only if a queue is lossless
  std::string name_;
  BitRate drain_rate_;
  RateLayer rate_layer_;
};

}  // namespace outrider::sw
