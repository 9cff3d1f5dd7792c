#include "tools/lab/simulation/virtual_trials.h"

#include <algorithm>
#include <chrono>

#include "switch/config/config_toml.h"
#include "tools/lab/simulation/simulation.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

/// How much of a trial is run between two looks at whether to stop.
constexpr Duration kTrialSlice = std::chrono::milliseconds(1);

}  // namespace

std::uint32_t VirtualTrials::buffers_for(const sw::SwitchProcessConfig& switches,
                                         const tg::GeneratorConfig& traffic) {
  return required_mbufs(switches) + required_mbufs(traffic);
}

BitRate VirtualTrials::line_rate(const std::string& device) const {
  const auto found = std::ranges::find(traffic_.devices, device, &tg::GeneratorDeviceConfig::name);
  return found == traffic_.devices.end() ? BitRate{} : found->line_rate.value_or(BitRate{});
}

std::optional<tg::TrialResult> VirtualTrials::run(const tg::Trial& trial) {
  ++switches_.seed;
  ++traffic_.seed;
  traffic_.streams = trial.streams;
  traffic_.pauses = trial.pauses;
  traffic_.duration = trial.duration;
  Simulation simulation(switches_, traffic_, pool_);
  const Time end = Time{} + trial.duration + traffic_.stream_drain;
  while (simulation.now() < end && simulation.next() != kNever) {
    if (stop_ && stop_()) return std::nullopt;
    simulation.run_until(
        std::min(end, std::max(simulation.now() + kTrialSlice, simulation.next())));
  }
  return tg::TrialResult{simulation.result().traffic.streams, simulation.streams()->samples(0)};
}

}  // namespace outrider::lab
