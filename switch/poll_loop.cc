#include "switch/poll_loop.h"

#include <algorithm>
#include <vector>

#include "common/dpdk/lcores.h"
#include "switch/direct_switch.h"
#include "switch/lcore_plan.h"

namespace outrider {

void connect_devices(SwitchNetwork& network, const SwitchProcessConfig& config,
                     PollDevices& devices) {
  const auto edges = network.edges();
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    const auto device = std::ranges::find(config.devices, edges[e].device, &DeviceConfig::name);
    const auto index = static_cast<std::size_t>(device - config.devices.begin());
    network.connect(e, devices.edge(index), 0);
  }
}

SwitchReport with_devices(SwitchReport report, const PerClass<std::uint64_t>& tx_dropped,
                          std::uint64_t malformed, const PortLosses& losses, Duration longest_gap) {
  constexpr auto kTxFull = static_cast<std::size_t>(DropReason::kDeviceTxFull);
  constexpr auto kMalformed = static_cast<std::size_t>(DropReason::kMalformed);
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    report.drops.values[c][kTxFull] += tx_dropped.values[c];
    report.transmitted -= tx_dropped.values[c];
  }
  report.received += malformed;
  report.drops[TrafficClass::kBackground][kMalformed] += malformed;
  report.device_rx_missed = losses.rx_missed;
  report.device_rx_nombuf = losses.rx_nombuf;
  report.longest_poll_gap_ns = longest_gap.count();
  return report;
}

namespace {

/// What the devices dropped is counted as the report counts it.
SwitchLive with_devices(SwitchLive live, const PollDevices& devices) noexcept {
  for (const std::uint64_t dropped : devices.tx_dropped().values) {
    live.drops[static_cast<std::size_t>(DropReason::kDeviceTxFull)] += dropped;
    live.transmitted -= dropped;
  }
  live.drops[static_cast<std::size_t>(DropReason::kMalformed)] += devices.malformed();
  live.received += devices.malformed();
  return live;
}

/// @param lives  it publishes nothing if several lcores run: none of them knows it all
SwitchReport run_direct(const SwitchProcessConfig& config, PollDevices& devices,
                        const TscClock& clock, std::optional<Duration> duration,
                        SwitchLiveReport* live) {
  const auto lcores = static_cast<std::uint32_t>(1 + config.more_lcores.size());
  DirectSwitch direct(config, devices, lcores);
  std::vector<PollResult> results(lcores);
  run_on_lcores(lcores, [&](std::uint32_t lcore) {
    const auto poll = [&worker = direct.worker(lcore)](Time previous, Time now) {
      worker.poll(previous, now);
    };
    const auto seldom = [&](Time now) {
      if (lcore != 0) return;
      devices.check_links();
      if (live != nullptr && lcores == 1) live->publish(with_devices(direct.live(now), devices));
    };
    results[lcore] = run_polls(
        clock, duration, poll, [] { return false; }, seldom);
  });
  const auto end = std::ranges::max(results, {}, &PollResult::end).end;
  const auto gap = std::ranges::max(results, {}, &PollResult::longest_gap).longest_gap;
  if (live != nullptr) live->finish(with_devices(direct.live(end), devices));
  return with_devices(direct.report(end), devices.tx_dropped(), devices.malformed(),
                      devices.losses(), gap);
}

SwitchReport run_network(const SwitchProcessConfig& config, PollDevices& devices,
                         const TscClock& clock, std::optional<Duration> duration,
                         SwitchLiveReport* live) {
  EventLoop loop;
  SwitchNetwork network(config, loop);
  connect_devices(network, config, devices);
  const PollResult result = run_poll_loop(
      devices, loop, network, clock, duration, [] { return false; },
      [&](Time now) {
        if (live != nullptr) live->publish(with_devices(network.live(now), devices));
      });
  if (live != nullptr) live->finish(with_devices(network.live(result.end), devices));
  SwitchReport report = with_devices(network.report(result.end), devices.tx_dropped(),
                                     devices.malformed(), devices.losses(), result.longest_gap);
  network.flush();
  return report;
}

}  // namespace

SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, SwitchLiveReport* live) {
  const TscClock clock;
  return (runs_directly(config) ? run_direct : run_network)(config, devices, clock, duration, live);
}

}  // namespace outrider
