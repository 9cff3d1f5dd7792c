#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/runtime/device_lane.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/poll_devices.h"
#include "common/runtime/poll_loop.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/apps/lane_handover.h"

namespace outrider::tg {

/// Everything that one lcore of a run owns: its share of the hosts with what they do, the event
/// loop that drives them, and devices. Each host is connected to the device of its name by a wire
/// without delay, as the switch emulates delays. If that device belongs to another lane, the wire
/// leads to a LaneHandover to that lane, which also hands back what arrives for the host. Lanes
/// share these and the pools of packet buffers, and nothing else.
///
/// It is the sink of its own poll loop, see run_poll_loop(). Not thread-safe: made and joined
/// before the run, then its lcore's, then read when all lcores have ended.
class HostLane {
 public:
  /// @param pool,devices must outlive the lane
  HostLane(const GeneratorConfig& config, const Generator::Options& options, rte_mempool& pool,
           PollDevices& devices);
  HostLane(const HostLane&) = delete;
  HostLane& operator=(const HostLane&) = delete;

  /// Connects the lane's hosts behind devices of `owner`. @throws DpdkError
  void borrow_devices(HostLane& owner);

  [[nodiscard]] EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] Generator& generator() noexcept { return generator_; }
  [[nodiscard]] DeviceLane& devices() noexcept { return devices_; }

  /// Hands over what the last poll left for other lanes, and takes what they have left.
  void begin_poll(const PollInstant& at) noexcept;
  void expect(std::uint32_t device, std::span<Packet* const> packets) noexcept {
    generator_.expect(device, packets);
  }
  void receive_from_device(std::uint32_t device, Packet* packet, Time now) noexcept {
    generator_.receive_from_device(device, packet, now);
  }
  /// Sends what hosts of other lanes have left for this lane's devices. Call it for each lane when
  /// all lcores have ended. What has arrived for their hosts stays, as in a NIC's receive ring.
  void finish(Time now) noexcept;

  /// Adds packets that never reached a host or never left.
  template <class Counts>
  void add_to(Counts& counts) const noexcept;
  /// Returns the counts of its hosts and devices so far.
  [[nodiscard]] TrafficLive live(Time now) const noexcept;

 private:
  void connect(std::uint32_t host, Node& to, std::uint32_t port, const Backpressure& backpressure);
  void send_for_others(Time now) noexcept;

  LcoreShare share_;
  EventLoop loop_;
  Generator generator_;
  DeviceLane devices_;
  std::vector<std::unique_ptr<Link>> wires_;
  std::vector<Node*> egress_;  ///< [devices] where packets leave by the lane's own; null: others'
  std::vector<std::unique_ptr<LaneHandover>> to_owners_;     ///< sent by its hosts
  std::vector<std::unique_ptr<LaneHandover>> to_borrowers_;  ///< arrived at its devices
  std::vector<LaneHandover*> for_devices_;                   ///< from other lanes' hosts
  std::vector<LaneHandover*> for_hosts_;                     ///< from other lanes' devices
};

template <class Counts>
void HostLane::add_to(Counts& counts) const noexcept {
  for (const std::uint64_t dropped : devices_.tx_dropped().values)
    counts.drops[DropReason::kDeviceTxFull] += dropped;
  counts.drops[DropReason::kMalformed] += devices_.malformed();
  counts.received += devices_.malformed();
  for (const auto& sent : to_owners_) counts.drops[DropReason::kHandoverFull] += sent->dropped();
  for (const auto& arrived : to_borrowers_) {
    counts.drops[DropReason::kHandoverFull] += arrived->dropped();
    counts.received += arrived->dropped();
  }
}

using HostLanes = std::vector<std::unique_ptr<HostLane>>;

/// Makes a lane for each lcore that the configuration names. The EAL must be up.
HostLanes make_host_lanes(const GeneratorConfig& config, const Generator::Options& options,
                          rte_mempool& pool, PollDevices& devices);

}  // namespace outrider::tg
