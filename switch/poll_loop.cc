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

SwitchReport run_switch(SwitchNetwork& network, EventLoop& loop, PollDevices& devices,
                        std::optional<Duration> duration) {
  const TscClock clock;
  const PollResult result =
      run_poll_loop(devices, loop, network, clock, duration, [] { return false; });
  return with_devices(network.report(result.end), devices.tx_dropped(), devices.malformed(),
                      devices.losses(), result.longest_gap);
}

}  // namespace outrider
