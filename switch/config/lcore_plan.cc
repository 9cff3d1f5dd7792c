#include "switch/config/lcore_plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/config/process_checks.h"

namespace outrider::sw {
namespace {

/// Rejects settings whose state belongs to one lcore but would be written by several.
void check_shared_state(const Checks& root, const SwitchConfig& sw) {
  constexpr const char* kRule = "needs one lcore: leave out more_lcores";
  const Checks at = root.below("switch", 0);
  at.require(!sw.buffer.total_bytes, "buffer.total_bytes",
             std::to_string(sw.buffer.total_bytes.value_or(0)) + " bytes", kRule);
  at.require(sw.classes.learned_flows == 0, "classes.learned_flows",
             std::to_string(sw.classes.learned_flows), kRule);
  for (std::size_t p = 0; p < sw.ports.size(); ++p) {
    const Checks port = at.below("port", p);
    const auto queues = queues_of(sw.ports[p]);
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const Checks queue = sw.ports[p].queues.empty() ? port : port.below("queues", q);
      queue.below("regulation")
          .below("grant")
          .require(!grants(queues[q].regulation.grant), "order", "set", kRule);
    }
  }
}

bool rewrites_windows_at(const SwitchPortConfig& port) {
  return std::ranges::any_of(queues_of(port), [](const PortQueueConfig& queue) {
    return rewrites_windows(queue.regulation.mode);
  });
}

/// Everything that arrives at a port that rewrites windows must pass the lcore that owns the port.
void check_returns(const Checks& root, const SwitchProcessConfig& config) {
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    const DeviceConfig& device = config.devices[d];
    for (const auto& port : config.switches.front().ports) {
      if (port.device != device.name || device.rx_queues == 1 || !rewrites_windows_at(port))
        continue;
      const std::string rule = "must be 1 with more_lcores: port \"" + port.name +
                               "\" holds windows, and all that comes in by it has to pass the "
                               "lcore that owns it";
      root.below("device", d)
          .fault("rx_queues",
                 device.rx_queues ? std::to_string(*device.rx_queues) : "up to one per lcore",
                 rule);
      break;
    }
  }
}

}  // namespace

bool runs_directly(const SwitchProcessConfig& config) {
  if (config.switches.size() != 1 || !config.links.empty()) return false;
  if (has_lossless(config.switches.front())) return false;  // pauses have times, and so events
  const auto& ports = config.switches.front().ports;
  return ports.size() <= std::numeric_limits<PortMask>::digits &&
         std::ranges::all_of(ports, [](const SwitchPortConfig& port) {
           return port.device.has_value() && port.delay == Duration::zero();
         });
}

void check_lcores(const Checks& root, const SwitchProcessConfig& config) {
  const bool direct = runs_directly(config);
  constexpr const char* kDirect =
      "needs a single [[switch]] of at most 64 ports, all with a device and without delay, and no "
      "lossless queue";
  for (std::size_t d = 0; d < config.devices.size(); ++d) {
    const auto& queues = config.devices[d].rx_queues;
    if (!queues) continue;
    const Checks at = root.below("device", d);
    at.require(*queues == 1 || direct, "rx_queues", std::to_string(*queues), kDirect);
  }
  if (config.more_lcores.empty()) return;
  root.in_range("more_lcores", config.more_lcores.size(), 0, kMaxMoreLcores, "lcores");
  if (root.require(direct, "more_lcores", std::to_string(config.more_lcores.size()), kDirect)) {
    check_shared_state(root, config.switches.front());
    check_returns(root, config);
  }
}

LcorePlan plan_lcores(const SwitchProcessConfig& config, std::span<const std::uint16_t> rx_queues,
                      std::uint32_t lcores) {
  LcorePlan plan;
  plan.polled.resize(lcores);
  plan.serves.resize(lcores);
  for (std::uint32_t d = 0; d < config.devices.size(); ++d) {
    const std::uint32_t owner = d % lcores;
    plan.owner_of_device.push_back(owner);
    plan.serves[owner].push_back(d);
    for (std::uint16_t q = 0; q < rx_queues[d]; ++q)
      plan.polled[(owner + q) % lcores].push_back({d, q});
  }
  for (const auto& port : config.switches.front().ports) {
    const auto device = std::ranges::find(config.devices, *port.device, &DeviceConfig::name);
    plan.owner_of_port.push_back(
        plan.owner_of_device[static_cast<std::size_t>(device - config.devices.begin())]);
  }
  return plan;
}

}  // namespace outrider::sw
