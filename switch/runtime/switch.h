#pragma once

#include <rte_prefetch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/node.h"
#include "switch/config/config.h"
#include "switch/egress/egress_port.h"
#include "switch/egress/reload_change.h"
#include "switch/forwarding/classifier.h"
#include "switch/forwarding/forwarder.h"
#include "switch/forwarding/packet_copy.h"
#include "switch/forwarding/parse.h"
#include "switch/report/report.h"
#include "switch/signals/signal_gate.h"

namespace outrider::sw {

/// The state of a switch that one lcore may write as it passes packets. Lanes share nothing:
/// a lane sends the stations that it learns to the others (ForwarderLane::news).
struct alignas(64) SwitchLane : LaneCounts {
  SwitchLane(const SwitchConfig& config, const SwitchTables& now_in_force, ForwarderLane forwarder,
             ClassifierLane classifier)
      : tables(&now_in_force),
        gate(config),
        forwarding(std::move(forwarder)),
        classes(std::move(classifier)) {}

  const SwitchTables* tables;  ///< a reload exchanges them between two polls of the lane
  SignalGate gate;
  ForwarderLane forwarding;
  ClassifierLane classes;
};

/// A packet and the time at which it arrives at its egress port.
struct PortArrival {
  Packet* packet = nullptr;
  Time at{};
};

/// One switch. Its ingress half parses, forwards and classifies; its egress half hears signals
/// and hands packets to an egress port. The state of queues is in the EgressPort, other state
/// that changes with packets is in a SwitchLane, and the tables here change only by a reload.
///
/// Many methods: a reload, a poll loop, an event loop and whoever reports each have their own, and
/// what few ports have (grants, subscribers) is joined by a call of its own.
///
/// Identity: received + copied + pause frames made == sum over ports of arrived + dropped before a
/// port + pause frames taken + on the way from one lcore to another.
/// Several lcores may call ingress() at once, each with its own lane. Only the lcore that owns
/// a port calls egress() for it. Everything else is for one lcore.
class Switch final : public Node, private AnswerSink {
 public:
  /// @param config must be valid, see validate(SwitchProcessConfig)
  /// @param index  of the switch in its process; it makes two switches choose independently
  /// among equal costs
  /// @throws EnvironmentError if there is no memory for its tables
  Switch(const SwitchConfig& config, EventLoop& loop, const EgressPort::Limits& limits,
         std::size_t lanes = 1, std::uint32_t index = 0);

  void receive(std::uint32_t port, Packet* packet, Time now) noexcept override {
    SwitchLane& own = lanes_.front();
    ingress<true>(own, port, packet, now, [&](std::uint16_t out, Packet* routed) {
      if (on_return(own, *ports_[port], routed, out, now)) [[unlikely]]
        return;
      egress(own, *ports_[out], routed, now);
    });
  }

  /// Parses, forwards and classifies. Takes ownership of the packet and drops it or passes it,
  /// with copies if it is flooded, to `hand_on(port index, packet)`.
  /// @param port  ingress port
  /// @param now   does not decrease from call to call of a lane
  /// @param hand_on  passed by value: references to what it captures would live in memory
  /// @tparam kLinked  whether the packet comes over a link, so that its headers may be known
  template <bool kLinked = false, class HandOn>
  void ingress(SwitchLane& lane, std::uint32_t port, Packet* packet, Time now,
               HandOn hand_on) noexcept {
    ++lane.received;
    const std::uint32_t out = forward<kLinked>(lane, port, *packet, now);
    if (out == kDropped) [[unlikely]]
      return;
    if (out == kFlooded) [[unlikely]]
      return flood(lane, port, packet, hand_on);
    ++lane.handed;
    hand_on(static_cast<std::uint16_t>(out), packet);
  }

  /// Returns whether the switch looks up stations, whose tables are worth a prefetch().
  [[nodiscard]] static bool looks_up_stations(const SwitchLane& lane) noexcept {
    return lane.tables->forwarder.looks_at_macs();
  }
  /// Prefetches the table entries that ingress() of that packet reads, so that the cache misses
  /// of a batch overlap. @pre the packet's first bytes are in the cache
  void prefetch(const SwitchLane& lane, Packet& packet) const noexcept {
    if (buffer(packet).size() >= sizeof(EthernetHeader))
      lane.tables->forwarder.prefetch(buffer(packet).data(), lane.forwarding);
  }

  /// Shows a packet that arrived at port `in` what waits for returns there, before egress().
  /// @param out  its egress port
  /// @return whether that took ownership, of an answer that has to wait
  [[nodiscard]] bool on_return(SwitchLane& lane, EgressPort& in, Packet* packet, std::uint16_t out,
                               Time now) noexcept {
    in.on_return(*packet, now);
    if (meta(*packet).tcp_offset == 0 && in.may_tell_leads()) [[unlikely]]
      tell_lead(lane, in, *packet, now);
    return in.grants() != nullptr && take_answer(lane, in, packet, out, now);
  }

  /// Hears signals and hands the packet to the port. @pre ingress() has passed the packet on
  [[gnu::always_inline]] void egress(SwitchLane& lane, EgressPort& port, Packet* packet,
                                     Time now) noexcept {
    const PacketMeta& m = meta(*packet);
    const bool bare_segment = m.tcp_offset != 0 && m.payload_bytes == 0;
    bool signal = bare_segment && hears_signal(lane, port, *packet, now);
    if (m.flow.destination_port == lane.tables->signal_port) [[unlikely]]
      signal = signal || hears_message(lane, port, *packet, now);
    if (lane.tables->predicts && m.traffic_class == TrafficClass::kDdl && m.payload_bytes > 0)
        [[unlikely]]
      note_source(lane, *packet);
    port.enqueue(packet, signal, now);
  }

  /// Does the same for all packets that a poll brings for one port, in order of time.
  void egress(SwitchLane& lane, EgressPort& port, std::span<const PortArrival> arrivals) noexcept {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      // With many ports the metadata have left the first-level cache since ingress.
      if (i + kFetchedAhead < arrivals.size())
        rte_prefetch0(&meta(*arrivals[i + kFetchedAhead].packet));
      egress(lane, port, arrivals[i].packet, arrivals[i].at);
    }
  }

  /// Drops a packet that ingress() has handed on but that reached no port.
  static void take_back(SwitchLane& lane, Packet& packet, DropReason reason) noexcept {
    --lane.handed;
    drop(lane, packet, reason);
  }

  [[nodiscard]] SwitchLane& lane(std::size_t index) noexcept { return lanes_[index]; }
  [[nodiscard]] std::size_t lanes() const noexcept { return lanes_.size(); }
  [[nodiscard]] EgressPort& port(std::uint32_t index) noexcept { return *ports_[index]; }
  [[nodiscard]] const EgressPort& port(std::uint32_t index) const noexcept {
    return *ports_[index];
  }
  [[nodiscard]] std::uint32_t ports() const noexcept {
    return static_cast<std::uint32_t>(ports_.size());
  }
  /// Returns whether the admission of packets to a port depends on what other ports hold.
  [[nodiscard]] bool shares_buffer() const noexcept { return buffer_ != nullptr; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns the port by which packets to `address` leave, the first of equal costs.
  [[nodiscard]] std::optional<std::uint16_t> route(std::uint32_t address) const noexcept {
    return lanes_.front().tables->forwarder.port_to(address);
  }
  /// Returns the port behind which the sender of a packet is, as far as the lane knows: the
  /// learned port, else that of the route back.
  [[nodiscard]] std::optional<std::uint16_t> port_behind(const SwitchLane& lane, Packet& packet,
                                                         Time now) const noexcept;

  /// Prepares the change of the switch from one configuration to another. A control thread
  /// calls it while no other change is under way.
  /// @throws EnvironmentError if there is no memory for its tables
  [[nodiscard]] SwitchChange prepare(const SwitchConfig& from, const SwitchConfig& to) const;
  /// Applies the change of one lane, on its lcore. None of the apply functions allocates or
  /// frees memory.
  void apply_lane(SwitchChange& change, std::size_t lane) noexcept;
  /// Applies the change of one port, on its owner's lcore. @pre `now` is not before the port's
  /// last packet
  void apply_port(SwitchChange& change, std::uint32_t port, Time now) noexcept;
  /// Applies the changes of all lanes and ports. @pre one lcore owns them all
  void apply(SwitchChange& change, Time now) noexcept;
  /// Moves the old tables to `change`. The control thread calls it once all have applied it.
  void retire(SwitchChange& change) noexcept {
    if (change.tables) std::swap(tables_, change.tables);
  }

  /// Adds this switch's counters and queues to the report.
  /// @param between  packets that ingress() has handed on and egress() has not got yet
  void fill(SwitchReport& report, Time now, std::uint64_t between = 0) const;
  /// Writes the counters of all its lanes and ports to the cells. @pre one lcore owns them all
  void publish(SwitchCells& to, Time now) noexcept;

  void flush() noexcept;

 private:
  static constexpr std::size_t kFetchedAhead = 4;      ///< packets
  static constexpr std::uint32_t kDropped = 0x1'0000;  ///< larger than any port
  static constexpr std::uint32_t kFlooded = 0x1'0001;

  /// Parses, forwards and classifies. @return the egress port, kDropped or kFlooded
  template <bool kLinked>
  [[nodiscard]] std::uint32_t forward(SwitchLane& lane, std::uint32_t port, Packet& packet,
                                      Time now) noexcept;
  [[nodiscard, gnu::noinline]] std::uint32_t forward_known_roce(SwitchLane& lane, Packet& packet,
                                                                Time now) noexcept;
  [[nodiscard, gnu::noinline]] std::uint32_t forward_other(SwitchLane& lane, Packet& packet,
                                                           Time now) noexcept;
  /// Takes a pause frame, which never passes a switch. @return false if it is none, or no queue of
  /// the switch is lossless
  [[nodiscard]] bool take_pause(SwitchLane& lane, Packet& packet, Time now) noexcept;
  [[nodiscard, gnu::always_inline]] static std::uint32_t pass(
      SwitchLane& lane, Packet& packet, const FrameSummary& summary,
      const Forwarder::Verdict& verdict) noexcept;
  /// Changes TTL and MAC addresses of a routed packet. @return false if its TTL expires
  [[nodiscard, gnu::always_inline]] static bool rewrite(Packet& packet, const FrameSummary& summary,
                                                        const Forwarder& forwarder,
                                                        const Forwarder::Verdict& verdict) noexcept;
  void join_subscribers(const SwitchConfig& config);
  [[nodiscard]] bool hears_signal(SwitchLane& lane, EgressPort& port, Packet& packet,
                                  Time now) noexcept;
  [[nodiscard]] bool hears_message(SwitchLane& lane, EgressPort& port, Packet& packet,
                                   Time now) noexcept;
  /// Notes with DDL payload whether predictions may learn from it.
  static void note_source(const SwitchLane& lane, Packet& packet) noexcept;
  /// Tells the START to the queue that packets of the announced flow take. The START itself,
  /// `packet`, may have been assigned to another queue.
  void announce(SwitchLane& lane, EgressPort& port, Packet& packet, StartSignal start,
                Time now) const noexcept;
  [[gnu::noinline]] static void tell_lead(const SwitchLane& lane, EgressPort& in, Packet& packet,
                                          Time now) noexcept;
  [[nodiscard, gnu::noinline]] static bool take_answer(const SwitchLane& lane, EgressPort& in,
                                                       Packet* packet, std::uint16_t out,
                                                       Time now) noexcept;
  [[nodiscard]] static std::optional<StartAnswer> answer_in(const SwitchLane& lane,
                                                            Packet& packet) noexcept;
  void pass_answer(Packet* answer, std::uint16_t out, Time now) noexcept override;
  void drop_answer(Packet* answer) noexcept override;
  static void count(SwitchLane& lane, SignalGate::Verdict verdict) noexcept;
  [[gnu::noinline]] static void drop(SwitchLane& lane, Packet& packet, DropReason reason) noexcept;

  /// Hands a packet to every port except the ingress port: copies to all but the last, which
  /// gets the packet itself.
  template <class HandOn>
  void flood(SwitchLane& lane, std::uint32_t port, Packet* packet, HandOn hand_on) noexcept {
    const auto ports = static_cast<std::uint16_t>(ports_.size());
    std::optional<std::uint16_t> next;
    for (std::uint16_t p = 0; p < ports; ++p) {
      if (p == port) continue;
      if (next) {
        ++lane.copied;
        Packet* copy = copy_of(*packet);
        if (copy != nullptr) {
          ++lane.handed;
          hand_on(*next, copy);
        } else {
          ++lane.dropped[DropReason::kFloodNoBuffer];
        }
      }
      next = p;
    }
    if (!next) return drop(lane, *packet, DropReason::kFiltered);
    ++lane.handed;
    hand_on(*next, packet);
  }

  std::string name_;
  std::uint32_t index_;
  std::unique_ptr<SwitchTables> tables_;      ///< lanes use them, or newer ones during a reload
  std::unique_ptr<SharedBuffer> buffer_;      ///< must outlive the ports; nullptr: none
  std::unique_ptr<LosslessBuffer> lossless_;  ///< the same
  std::vector<std::unique_ptr<EgressPort>> ports_;
  std::vector<SwitchLane> lanes_;
};

}  // namespace outrider::sw
