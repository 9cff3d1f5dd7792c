#include "trafficgen/apps/host_lane.h"

#include <algorithm>

#include "common/config/process_checks.h"

namespace outrider::tg {
namespace {

std::vector<std::uint32_t> devices_of(const GeneratorConfig& config, const LcoreShare& share) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t d = 0; d < config.devices.size(); ++d)
    if (share.has_device(d)) own.push_back(d);
  return own;
}

}  // namespace

HostLane::HostLane(const GeneratorConfig& config, const Generator::Options& options,
                   rte_mempool& pool, PollDevices& devices)
    : generator_(config, loop_, pool, options),
      devices_(devices, devices_of(config, options.share)) {
  for (std::uint32_t h = 0; h < config.hosts.size(); ++h) {
    if (!generator_.has_host(h)) continue;
    const auto device =
        std::ranges::find(config.devices, config.hosts[h].device, &GeneratorDeviceConfig::name);
    const auto index = static_cast<std::uint32_t>(device - config.devices.begin());
    wires_.push_back(std::make_unique<Link>(loop_, Duration{},
                                            generator_.egress(index, devices.edge(index)), 0));
    generator_.connect(h, *wires_.back(), &devices.edge(index).backpressure());
  }
}

TrafficLive HostLane::live(Time now) const noexcept {
  TrafficLive live = generator_.live(now);
  add_devices(live, devices_);
  return live;
}

HostLanes make_host_lanes(const GeneratorConfig& config, const Generator::Options& options,
                          rte_mempool& pool, PollDevices& devices) {
  const auto lcores = static_cast<std::uint32_t>(cpus_of(config).size());
  HostLanes lanes;
  for (std::uint32_t lcore = 0; lcore < lcores; ++lcore) {
    Generator::Options own = options;
    own.share = {.plan = plan_lcores(config, lcores), .lcore = lcore};
    lanes.push_back(std::make_unique<HostLane>(config, own, pool, devices));
  }
  return lanes;
}

}  // namespace outrider::tg
