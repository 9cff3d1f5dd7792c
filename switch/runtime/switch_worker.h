#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/core/batch.h"
#include "common/core/clock.h"
#include "common/dpdk/packet/handover_ring.h"
#include "common/runtime/poll_devices.h"
#include "switch/config/lcore_plan.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/bounded_list.h"
#include "switch/runtime/reload.h"
#include "switch/runtime/switch.h"

namespace outrider::sw {

/// The rings from one lcore of a switch to another. Identity: put == taken + resident.
struct Handover {
  HandoverRing<Packet*> packets;  ///< for the other's ports; PacketMeta::egress_port names one
  HandoverRing<StationNews> news;
};

/// One lcore's share of a switch. It passes the packets of its receive queues through the
/// ingress half (parse, forward, classify) and hands those for other lcores' ports to these
/// lcores. It passes the packets for its own ports, wherever they were received, through the
/// egress half to the devices.
///
/// The batches of one poll are interleaved and spread evenly over the time since the last
/// poll, so that queues see them about as they arrived. A flow that arrives at one receive
/// queue keeps its order, because queue, lane, ring and port are FIFOs.
///
/// Once a poll has kPollPackets it asks no further receive queues, and the next poll goes on
/// from there. The packets of a poll therefore stay in a near cache, however many ports are
/// busy. Packets of the other receive queues are spread over the next poll's time instead.
///
/// Each port then gets all packets that the poll brought for it at once, so that its queues
/// are fetched into the cache once per poll. Only ports that depend on each other take packets
/// in turn: those with a shared buffer, or with windows that packets of the other direction
/// change.
///
/// Such a packet of the other direction is called a *return*. It passes the windows of its
/// ingress port on the lcore that polls and owns that port, in its turn among the packets of
/// the poll. Only then is it handed to the lcore of its egress port. Windows therefore see data
/// and returns in the order and at the times that a single lcore would give them, except that
/// data polled by other lcores come at most one poll later. A device with such a port must
/// have one receive queue, see check_lcores().
///
/// Not thread-safe: its lcore owns it, its lane, its ports and their devices.
class SwitchWorker {
 public:
  struct Setup {
    std::uint32_t index = 0;  ///< of this lcore and its lane
    const LcorePlan* plan = nullptr;
    /// [lcores] rings to and from each lcore, nullptr at `index`; must outlive the worker
    std::vector<Handover*> to{};
    std::vector<Handover*> from{};
    /// [devices] ports behind the device; must outlive the worker
    const std::vector<std::vector<std::uint16_t>>* ports_of_device = nullptr;
  };

  static constexpr std::size_t kPollPackets = 6 * kBatchPackets;

  SwitchWorker(Setup setup, Switch& of, PollDevices& devices);

  /// Takes the packets that have arrived since `previous`, forwards them, and sends what is due
  /// by `now`. @pre previous <= now, and not before the last poll's `now`
  /// @return whether a packet had arrived
  bool poll(Time previous, Time now) noexcept;

  /// Writes the counters of everything that this lcore owns to the cells. `loop` holds the
  /// loop's other numbers. Allocates nothing.
  void publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept;
  /// Applies this lcore's part of a reload between two polls. @pre `now` is not before the
  /// last poll's
  void apply(ReloadChange& change, Time now) noexcept;

  /// Returns the number of packets that were received in more than one segment, and dropped.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }

 private:
  struct Routed {
    Packet* packet = nullptr;
    std::uint16_t out = 0;  ///< egress port
    std::uint16_t in = 0;   ///< port whose windows it must pass first; kNone: none
  };
  /// The packets that one source brought in this poll, after the ingress half.
  struct Arrivals {
    BoundedList<Routed> routed;
    std::uint32_t taken = 0;
    std::uint32_t due = 0;  ///< credit for the interleaving: a packet is due at `steps` of it
  };
  static constexpr std::uint16_t kNone = 0xFFFF;

  [[nodiscard]] bool owns(std::uint32_t port) const noexcept {
    return setup_.plan->owner_of_port[port] == setup_.index;
  }
  /// Receives a batch and passes it through the ingress half. @return whether there was one
  bool receive(const LcorePlan::RxQueue& from, Arrivals& arrivals, Time now) noexcept;
  [[nodiscard]] std::uint32_t port_of(std::uint32_t device, Packet& packet,
                                      Time now) const noexcept;
  /// Collects a packet for another lcore's port; hand_over() sends it.
  void set_aside(std::uint16_t out, Packet* packet) noexcept;
  void hand_over() noexcept;
  void send_news() noexcept;
  void take_over(Handover& from, Arrivals& arrivals, Time now) noexcept;
  void egress(Time previous, Time now) noexcept;
  template <class Take>
  void in_order(Time previous, Time now, Take&& take) noexcept;
  void egress_by_port() noexcept;
  void serve(Time now) noexcept;
  void pass_acks(Time now) noexcept;

  Setup setup_;
  Switch& switch_;
  SwitchLane& lane_;
  PollDevices& devices_;
  std::span<const LcorePlan::RxQueue> polled_;
  bool alone_;                      ///< whether no other lcore serves the switch
  std::size_t next_ = 0;            ///< receive queue that is asked next
  PortMask grants_ = 0;             ///< ports where ACKs may wait; one lcore owns them all
  PortMask takes_returns_ = 0;      ///< its own ports with returns() of concern, or grants()
  bool ports_apart_ = true;         ///< whether no port depends on another
  std::vector<Arrivals> arrivals_;  ///< [receive queues, then lcores if there are others]
  std::vector<Arrivals*> active_;   ///< sources that brought packets in this poll
  std::vector<std::vector<Packet*>> outgoing_;      ///< [lcores] packets not sent to it yet
  std::vector<BoundedList<PortArrival>> for_port_;  ///< [ports] its own: this poll's, in order
  PortMask receiving_ = 0;                          ///< ports that get packets in this poll
  PortMask busy_ = 0;                               ///< ports that have packets to send
  std::uint64_t malformed_ = 0;
};

}  // namespace outrider::sw
