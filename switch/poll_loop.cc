#include "switch/poll_loop.h"

#include <algorithm>

#include "switch/direct_switch.h"

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

/// @param run  (seldom) -> PollResult: polls `forwarder` to the end
template <class Forwarder, class Run>
SwitchReport run_and_report(Forwarder& forwarder, PollDevices& devices, SwitchLiveReport* live,
                            Run run) {
  const PollResult result = run([&](Time now) {
    if (live != nullptr) live->publish(with_devices(forwarder.live(now), devices));
  });
  if (live != nullptr) live->finish(with_devices(forwarder.live(result.end), devices));
  SwitchReport report = with_devices(forwarder.report(result.end), devices.tx_dropped(),
                                     devices.malformed(), devices.losses(), result.longest_gap);
  forwarder.flush();
  return report;
}

}  // namespace

SwitchReport run_switch(const SwitchProcessConfig& config, PollDevices& devices,
                        std::optional<Duration> duration, SwitchLiveReport* live) {
  const TscClock clock;
  const auto never_done = [] { return false; };
  if (DirectSwitch::suits(config)) {
    DirectSwitch direct(config, devices);
    return run_and_report(direct, devices, live, [&](auto seldom) {
      const auto poll = [&](Time previous, Time now) { direct.poll(previous, now); };
      return run_polls(devices, clock, duration, poll, never_done, seldom);
    });
  }
  EventLoop loop;
  SwitchNetwork network(config, loop);
  connect_devices(network, config, devices);
  return run_and_report(network, devices, live, [&](auto seldom) {
    return run_poll_loop(devices, loop, network, clock, duration, never_done, seldom);
  });
}

}  // namespace outrider
