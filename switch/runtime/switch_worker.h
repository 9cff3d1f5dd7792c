#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/core/batch.h"
#include "common/core/bounded_list.h"
#include "common/core/clock.h"
#include "common/dpdk/handover_ring.h"
#include "common/runtime/poll_devices.h"
#include "switch/config/lcore_plan.h"
#include "switch/report/snapshots.h"
#include "switch/runtime/reload.h"
#include "switch/runtime/switch.h"

namespace outrider::sw {

/// What goes from one lcore of a switch to another. Identity: what one put, the other
/// took, or it is resident.
struct Handover {
  HandoverRing<Packet*> packets;  ///< to ports of the other; PacketMeta::egress_port says which
  HandoverRing<StationNews> news;
};

/// One lcore's share of a switch: it takes what its receive queues bring through the
/// ingress half (parse, forward, classify), hands to other lcores what is for their
/// ports, and takes what is for its own ports, from whomever, through the egress half to
/// the devices.
///
/// The batches of one poll are interleaved, spread evenly over the time since the last
/// poll, so that queues see them as they came. A flow that comes in by one receive queue
/// keeps its order: queue, lane, ring and port are FIFOs.
///
/// A poll asks no more receive queues once it has kPollPackets, and the next poll goes on
/// where it ended: what it works on stays in a near cache, however many ports are busy. What
/// it did not ask for is spread over the next poll's time instead.
///
/// Each port then gets what the poll brought for it at once, so that its queues are fetched
/// into the cache once a poll. Only ports that look at each other take packets in turn: those
/// with a common buffer, or with windows that packets of the other direction change.
///
/// Such a packet, a *return*, passes the windows of the port that it came in by here, on the
/// lcore that polls and owns that port, in its turn among what the poll brings; only then is
/// it handed to the lcore of the port it leaves by. So windows see data and returns in the
/// order and at the times that one lcore gives them, but for data that other lcores polled,
/// which come a poll later at most. A device with such a port must have one receive queue:
/// check_lcores().
///
/// Not thread-safe: its lcore owns it, its lane, its ports and their devices.
class SwitchWorker {
 public:
  struct Setup {
    std::uint32_t index = 0;  ///< of this lcore, and of its lane
    const LcorePlan* plan = nullptr;
    /// [lcores], nullptr at `index`; outlive the worker
    std::vector<Handover*> to{};
    std::vector<Handover*> from{};
    /// [devices] ports behind it; outlives the worker
    const std::vector<std::vector<std::uint16_t>>* ports_of_device = nullptr;
  };

  static constexpr std::size_t kPollPackets = 6 * kBatchPackets;

  SwitchWorker(Setup setup, Switch& of, PollDevices& devices);

  /// Takes what has arrived since `previous`, forwards, and lets leave what is due by
  /// `now`. @pre previous <= now, and not before the last poll's
  /// @return whether anything had arrived
  bool poll(Time previous, Time now) noexcept;

  /// Hands out what this lcore owns; `loop` says the rest of its loop. Allocates nothing.
  void publish(SwitchSnapshots& to, LoopSnapshot loop, Time now) noexcept;
  /// Takes over this lcore's part of a reload between two polls. @pre `now` is not before
  /// the last
  void apply(ReloadChange& change, Time now) noexcept;

  /// Received, and not readable as one segment.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }

 private:
  struct Routed {
    Packet* packet = nullptr;
    std::uint16_t out = 0;  ///< egress port
    std::uint16_t in = 0;   ///< port whose windows it has to pass first; kUnheard: none
  };
  /// What one source brought in this poll, behind the ingress half.
  struct Arrivals {
    BoundedList<Routed> routed;
    std::uint32_t taken = 0;
    std::uint32_t due = 0;  ///< of the interleaving: packets x steps so far
  };
  static constexpr std::uint16_t kUnheard = 0xFFFF;

  [[nodiscard]] bool owns(std::uint32_t port) const noexcept {
    return setup_.plan->owner_of_port[port] == setup_.index;
  }
  /// @return whether there was anything
  bool receive(const LcorePlan::RxQueue& from, Arrivals& arrivals, Time now) noexcept;
  [[nodiscard]] std::uint32_t port_of(std::uint32_t device, Packet& packet,
                                      Time now) const noexcept;
  /// Another lcore's port is to have it.
  void set_aside(std::uint16_t out, Packet* packet) noexcept;
  void hand_over() noexcept;
  void tell_news() noexcept;
  void take_over(Handover& from, Arrivals& arrivals, Time now) noexcept;
  void egress(Time previous, Time now) noexcept;
  template <class Take>
  void in_order(Time previous, Time now, Take&& take) noexcept;
  void egress_by_port() noexcept;
  void serve(Time now) noexcept;

  Setup setup_;
  Switch& switch_;
  SwitchLane& lane_;
  PollDevices& devices_;
  std::span<const LcorePlan::RxQueue> polled_;
  std::size_t next_ = 0;            ///< receive queue that is asked next
  PortMask hears_returns_ = 0;      ///< ports, its own, that want to see what comes in by them
  bool ports_apart_ = true;         ///< none of them looks at another
  std::vector<Arrivals> arrivals_;  ///< [receive queues, then lcores if there are others]
  std::vector<Arrivals*> active_;   ///< those that brought something in this poll
  std::vector<std::vector<Packet*>> outgoing_;      ///< [lcores], not sent yet
  std::vector<BoundedList<PortArrival>> for_port_;  ///< [ports], its own: of this poll, in order
  PortMask receiving_ = 0;                          ///< ports that this poll brings something for
  PortMask busy_ = 0;                               ///< ports that have something to send
  std::uint64_t malformed_ = 0;
};

}  // namespace outrider::sw
