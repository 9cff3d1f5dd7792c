#include "trafficgen/poll_loop.h"

#include <algorithm>

namespace outrider {

std::vector<std::unique_ptr<Link>> connect_devices(Generator& generator, EventLoop& loop,
                                                   PollDevices& devices) {
  const GeneratorConfig& config = generator.config();
  std::vector<std::unique_ptr<Link>> wires;
  for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
    const auto device =
        std::ranges::find(config.devices, config.hosts[h].device, &GeneratorDeviceConfig::name);
    const auto index = static_cast<std::uint32_t>(device - config.devices.begin());
    wires.push_back(
        std::make_unique<Link>(loop, Duration{}, generator.egress(index, devices.edge(index)), 0));
    generator.connect(h, *wires.back());
  }
  return wires;
}

GeneratorRun run_generator(Generator& generator, EventLoop& loop, PollDevices& devices,
                           std::optional<Duration> duration) {
  const bool until_finished = !duration && !generator.config().jobs.empty();
  const TscClock clock;
  generator.start(Time{});
  const PollResult result = run_poll_loop(devices, loop, generator, clock, duration,
                                          [&] { return until_finished && generator.finished(); });
  GeneratorRun run{.report = generator.report(result.end), .interrupted = result.interrupted};
  for (const std::uint64_t dropped : devices.tx_dropped().values)
    run.report.drops[static_cast<std::size_t>(DropReason::kDeviceTxFull)] += dropped;
  run.report.drops[static_cast<std::size_t>(DropReason::kMalformed)] += devices.malformed();
  run.report.received += devices.malformed();
  const PortLosses losses = devices.losses();
  run.report.device_rx_missed = losses.rx_missed;
  run.report.device_rx_nombuf = losses.rx_nombuf;
  run.report.longest_poll_gap_ns = result.longest_gap.count();
  return run;
}

}  // namespace outrider
