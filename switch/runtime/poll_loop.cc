#include "switch/runtime/poll_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/dpdk/eal/lcores.h"
#include "switch/config/lcore_plan.h"
#include "switch/report/with_devices.h"
#include "switch/runtime/direct_switch.h"

namespace outrider::sw {

void connect_devices(SwitchNetwork& network, const SwitchProcessConfig& config,
                     PollDevices& devices) {
  const auto edges = network.edges();
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    const auto device = std::ranges::find(config.devices, edges[e].device, &DeviceConfig::name);
    const auto index = static_cast<std::size_t>(device - config.devices.begin());
    network.connect(e, devices.edge(index), 0);
  }
}

namespace {

/// Returns a set of devices, bit d for device d, whose link is up. @pre the caller has checked
/// the links
std::uint64_t links_up(const PollDevices& devices) noexcept {
  std::uint64_t up = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) up |= std::uint64_t{devices.up(d)} << d;
  return up;
}

LoopSnapshot snapshot_of(const PollResult& so_far) noexcept {
  return {.at_ns = so_far.end.time_since_epoch().count(),
          .longest_poll_gap_ns = so_far.times.longest_gap.count(),
          .busy_ns = so_far.times.busy.count()};
}

void attach_captures(const SwitchControl& control, const std::vector<Switch*>& switches) {
  for (const auto& tap : control.captures)
    for (Switch* sw : switches)
      for (std::uint32_t p = 0; p < sw->ports(); ++p)
        if (sw->name() + '.' + sw->port(p).name() == tap.port) sw->port(p).capture(*tap.to);
}

/// Attaches the switches to the reload, and detaches them however the run ends.
class Attached {
 public:
  Attached(const SwitchControl& control, std::vector<Switch*> switches) : reload_(control.reload) {
    if (reload_ != nullptr) reload_->attach(std::move(switches));
  }
  ~Attached() {
    if (reload_ != nullptr) reload_->detach();
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  SwitchReload* reload_;
};

SwitchReport run_direct(const SwitchProcessConfig& config, PollDevices& devices,
                        const TscClock& clock, std::optional<Duration> duration,
                        const SwitchControl& control) {
  const auto lcores = static_cast<std::uint32_t>(1 + config.more_lcores.size());
  DirectSwitch direct(config, devices, lcores);
  attach_captures(control, direct.switches());
  std::vector<PollResult> results(lcores);
  const auto run = [&](std::uint32_t lcore) {
    SwitchWorker& worker = direct.worker(lcore);
    const auto poll = [&](const PollInstant& at) {
      if (control.reload != nullptr)
        control.reload->poll(lcore,
                             [&](ReloadChange& change) { worker.apply(change, at.previous); });
      return worker.poll(at.previous, at.now);
    };
    const auto publish = [&](const PollResult& so_far) {
      if (lcore == 0) devices.check_links();
      if (control.snapshots == nullptr) return;
      LoopSnapshot loop = snapshot_of(so_far);
      if (lcore == 0) loop.links_up = links_up(devices);
      worker.publish(*control.snapshots, loop, so_far.end);
    };
    results[lcore] = run_polls(
        clock, {.duration = duration}, poll, [] { return false; }, publish);
  };
  {
    const Attached attached(control, direct.switches());
    run_on_lcores(lcores, run);
  }
  const auto end = std::ranges::max(results, {}, &PollResult::end).end;
  PollTimes times;
  std::vector<PollGap> gaps;
  for (const auto& result : results) {
    gaps.insert(gaps.end(), result.gaps.kept().begin(), result.gaps.kept().end());
    times.longest_gap = std::max(times.longest_gap, result.times.longest_gap);
    times.busy += result.times.busy;
  }
  if (control.snapshots != nullptr) {
    // Other lcores may have handed packets over since a worker published last.
    LoopSnapshot loop{.at_ns = end.time_since_epoch().count(),
                      .links_up = links_up(devices),
                      .longest_poll_gap_ns = times.longest_gap.count()};
    for (std::uint32_t lcore = 0; lcore < lcores; ++lcore) {
      loop.busy_ns = results[lcore].times.busy.count();
      direct.worker(lcore).publish(*control.snapshots, loop, end);
    }
  }
  // The workers have counted what was malformed.
  SwitchReport report =
      with_devices(direct.report(end), devices.tx_dropped(), 0, devices.losses(), times);
  report.poll_gaps = merged(std::move(gaps));
  return report;
}

/// Wraps a network and applies a pending reload before the packets of each poll.
struct ReloadingNetwork {
  void begin_poll(const PollInstant& at) noexcept {
    if (reload != nullptr)
      reload->poll(0, [&](ReloadChange& change) { network.apply(change, polled); });
    polled = at.now;
  }
  void receive_from_device(std::uint32_t device, Packet* packet, Time arrived) noexcept {
    network.receive_from_device(device, packet, arrived);
  }
  SwitchNetwork& network;
  SwitchReload* reload;
  Time polled{};
};

SwitchReport run_network(const SwitchProcessConfig& config, PollDevices& devices,
                         const TscClock& clock, std::optional<Duration> duration,
                         const SwitchControl& control) {
  EventLoop loop;
  SwitchNetwork network(config, loop);
  connect_devices(network, config, devices);
  DeviceLane lane(devices);
  attach_captures(control, network.switches());
  const auto publish = [&](const PollResult& so_far) {
    if (control.snapshots == nullptr) return;
    for (std::size_t d = 0; d < devices.size(); ++d)
      control.snapshots->device(d).write({.tx_dropped = devices.edge(d).dropped()});
    LoopSnapshot own = snapshot_of(so_far);
    own.malformed = lane.malformed();
    own.links_up = links_up(devices);
    network.publish(*control.snapshots, own, so_far.end);
  };
  PollResult result;
  {
    const Attached attached(control, network.switches());
    ReloadingNetwork sink{network, control.reload};
    result = run_poll_loop(
        lane, loop, sink, clock, duration, [] { return false; }, publish);
  }
  publish(result);
  SwitchReport report = with_devices(network.report(result.end), devices.tx_dropped(),
                                     lane.malformed(), devices.losses(), result.times);
  report.poll_gaps = merged({result.gaps.kept().begin(), result.gaps.kept().end()});
  network.flush();
  return report;
}

}  // namespace

SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, const SwitchControl& control) {
  const TscClock clock;
  return (runs_directly(config) ? run_direct : run_network)(config, devices, clock, duration,
                                                            control);
}

}  // namespace outrider::sw
