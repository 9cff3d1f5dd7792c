#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/runtime/device_lane.h"
#include "common/runtime/event_loop.h"
#include "common/runtime/link.h"
#include "common/runtime/poll_devices.h"
#include "trafficgen/apps/generator.h"

namespace outrider::tg {

/// Everything that one lcore of a run owns: its share of the hosts with what they do, the event
/// loop that drives them, and the devices behind which they are. Each host is connected to the
/// device of its name by a wire without delay, as the switch emulates delays. Lanes share the pool
/// of packet buffers and nothing else.
///
/// Not thread-safe: made before the run, then its lcore's, then read when all lcores have ended.
class HostLane {
 public:
  /// @param pool,devices must outlive the lane
  HostLane(const GeneratorConfig& config, const Generator::Options& options, rte_mempool& pool,
           PollDevices& devices);
  HostLane(const HostLane&) = delete;
  HostLane& operator=(const HostLane&) = delete;

  [[nodiscard]] EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] Generator& generator() noexcept { return generator_; }
  [[nodiscard]] DeviceLane& devices() noexcept { return devices_; }
  /// Returns the counts of its hosts and devices so far.
  [[nodiscard]] TrafficLive live(Time now) const noexcept;

 private:
  EventLoop loop_;
  Generator generator_;
  DeviceLane devices_;
  std::vector<std::unique_ptr<Link>> wires_;
};

using HostLanes = std::vector<std::unique_ptr<HostLane>>;

/// Makes a lane for each lcore that the configuration names.
HostLanes make_host_lanes(const GeneratorConfig& config, const Generator::Options& options,
                          rte_mempool& pool, PollDevices& devices);

/// Adds packets that never reached a host or never left, as in the report.
template <class Counts>
void add_devices(Counts& counts, const DeviceLane& devices) noexcept {
  for (const std::uint64_t dropped : devices.tx_dropped().values)
    counts.drops[DropReason::kDeviceTxFull] += dropped;
  counts.drops[DropReason::kMalformed] += devices.malformed();
  counts.received += devices.malformed();
}

}  // namespace outrider::tg
