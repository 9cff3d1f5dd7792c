#include "switch/poll_loop.h"

#include <algorithm>

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
SwitchLive live_of(const SwitchNetwork& network, const PollDevices& devices, Time now) noexcept {
  SwitchLive live = network.live(now);
  for (const std::uint64_t dropped : devices.tx_dropped().values) {
    live.drops[static_cast<std::size_t>(DropReason::kDeviceTxFull)] += dropped;
    live.transmitted -= dropped;
  }
  live.drops[static_cast<std::size_t>(DropReason::kMalformed)] += devices.malformed();
  live.received += devices.malformed();
  return live;
}

}  // namespace

SwitchReport run_switch(SwitchNetwork& network, EventLoop& loop, PollDevices& devices,
                        std::optional<Duration> duration, SwitchLiveReport* live) {
  const TscClock clock;
  const PollResult result = run_poll_loop(
      devices, loop, network, clock, duration, [] { return false; },
      [&](Time now) {
        if (live != nullptr) live->publish(live_of(network, devices, now));
      });
  if (live != nullptr) live->finish(live_of(network, devices, result.end));
  return with_devices(network.report(result.end), devices.tx_dropped(), devices.malformed(),
                      devices.losses(), result.longest_gap);
}

}  // namespace outrider
